// Participants on a real Redis: complete figures, holders that die, holders that are stopped, and
// no process left behind, however lockmark itself ends.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>

#include "deploy/local/cluster.hpp"
#include "program/participants_fixture.hpp"
#include "program/test_servers.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
using run::phase;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class participants_on_redis : public testing::Test {
 protected:
  static void SetUpTestSuite() { redis_.emplace(local::cluster::start("redis")); }
  static void TearDownTestSuite() { redis_.reset(); }

  // `lockmark run contended` with four participants, for `seconds`.
  std::vector<std::string> contended(const char* seconds) const {
    return lockmark({"run",   "contended",
                     "--on",  redis_->target(),
                     "--out", (dir_ / "runs").string(),
                     "--set", "lock=redis/lua",
                     "--set", "participants=4",
                     "--set", "hold=2ms",
                     "--set", "load.think=0s",
                     "--set", fmt::format("stop.duration={}", seconds),
                     "--set", "stop.at_most=1m",
                     "--set", "stop.samples=0",
                     "--set", "warmup=100ms",
                     "--set", "floor=0s"});
  }
  // The participants of a running lockmark.
  static std::vector<pid_t> those_of(const program& p) {
    EXPECT_TRUE(p.says("measuring")) << p.err();
    const auto all = children_named("lm-participant", p.pid());
    EXPECT_THAT(all, SizeIs(4));
    return all;
  }

  scratch dir_;
  static inline std::optional<local::cluster> redis_;
};

// Disturbs the first participant that holds a key, once, in the middle of the window.
struct holder_once {
  std::function<void(run::process_worker_pool&, std::uint32_t)> how;
  std::shared_ptr<int> hurt = std::make_shared<int>(0);

  void operator()(run::process_worker_pool& workers, const run::progress& p) const {
    if (*hurt > 0 || p.now != phase::measuring) return;
    for (std::uint32_t i = 0; i < workers.count() && *hurt == 0; ++i) {
      if (workers.holding(i) == 0) continue;
      ++*hurt;
      how(workers, i);
    }
  }
};

TEST_F(participants_on_redis, give_whole_figures) {
  const ended e = program(contended("1s"), dir_.path()).wait(30s);
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.out << e.err;
  const auto told = read_json(only_folder(dir_ / "runs") / "run.json");
  EXPECT_EQ(told["run"]["status"], "complete");
  EXPECT_EQ(told["harness"]["participants"], 4);
  EXPECT_EQ(told["harness"]["workers"], 4);
  EXPECT_EQ(told["verdict"]["held"], true);
  EXPECT_GT(told["counts"]["granted"].get<int>(), 50);
  EXPECT_GT(told["handoff"]["transfer"]["count"].get<int>(), 0);
  EXPECT_GT(told["quantiles"]["response"]["n"].get<int>(), 50);
  EXPECT_GT(told["cost_per_acquire"]["client_commands_per_grant"].get<double>(), 1);
  EXPECT_GT(told["cost_per_acquire"]["server_commands_per_grant"].get<double>(), 1);
  EXPECT_GT(told["harness"]["cpu_cores_used"].get<double>(), 0.01);
  EXPECT_THAT(told["marks"].dump(), testing::Not(HasSubstr("participant_died")));
  EXPECT_TRUE(told["safety"]["guard"].is_null());
  EXPECT_THAT(state_of(*config::parse_target(redis_->target()), dir_.path()),
              testing::Not(HasSubstr("lockmark")));
}

// A dead holder's lock lasts until its lease has expired, and no longer.
TEST_F(participants_on_redis, a_dead_holders_lock_comes_back_with_its_lease) {
  const holder_once hit{
      [](run::process_worker_pool& workers, std::uint32_t i) { workers.kill(i); }};
  const run::result r = run_apart(
      {.lock = "redis/lua",
       .job = "load: {instances: 4, clients: 2}\nparticipants: 4\nkeys: one\nhold: 100ms\n"
              "wait: 10s\nlease: 1500ms\nretry: jittered(1ms, 20ms)\nwarmup: 100ms\n"
              "stop: {duration: 4s}\nfloor: 0s\nguard: register\n",
       .target = redis_->target(),
       .each_glance = hit});
  ASSERT_EQ(*hit.hurt, 1);
  EXPECT_EQ(r.how, run::ending::complete) << r.why;
  EXPECT_EQ(r.violations(), 0u);
  EXPECT_EQ(r.found.guard->lost_updates, 0u);
  EXPECT_EQ(r.found.orphaned, 1u);
  // Less the time for which a busy machine let nobody run.
  EXPECT_GE(r.found.longest_gap_ns + r.self.frozen.longest_ns, 1'300'000'000);
  // On a busy machine, all clients also wait for a core.
  EXPECT_LE(r.found.longest_gap_ns, 2'100'000'000 + 2 * r.hiccup.max_ns());
  EXPECT_GT(r.found.longest_orphaned_ns, 1'100'000'000);
  EXPECT_LE(r.found.longest_orphaned_ns, r.found.longest_gap_ns + r.self.frozen.longest_ns);
}

// A holder that is stopped past its lease and resumes unaware: detected by the intervals of the
// holds, and by the guarded register, whose update it overwrites.
TEST_F(participants_on_redis, a_sleeping_holder_is_caught) {
  auto asleep = std::make_shared<std::optional<std::uint32_t>>();
  int glances = 0;
  const holder_once lull{[asleep](run::process_worker_pool& workers, std::uint32_t i) {
    workers.pause(i);
    *asleep = i;
  }};
  const run::result r = run_apart(
      {.lock = "redis/set_nx_px",
       .job = "load: {instances: 4, clients: 1}\nparticipants: 4\nkeys: one\nhold: 100ms\n"
              "wait: 10s\nlease: 400ms\nretry: jittered(1ms, 20ms)\nwarmup: 100ms\n"
              "stop: {duration: 3s}\nfloor: 0s\nguard: register\n",
       .target = redis_->target(),
       .each_glance = [&, lull](run::process_worker_pool& workers, const run::progress& p) {
         lull(workers, p);
         if (*asleep && ++glances == 6) workers.resume(**asleep);
       }});
  ASSERT_TRUE(asleep->has_value());
  EXPECT_EQ(r.how, run::ending::complete) << r.why;
  EXPECT_GE(r.found.certain_violations, 1u);
  ASSERT_TRUE(r.found.guard.has_value());
  EXPECT_GE(r.found.guard->lost_updates + r.found.guard->stale_accesses, 1u);
  EXPECT_FALSE(r.found.guard->fenced);
  EXPECT_GE(r.violations(), 1u);
}

// A holder stopped for less than its lease does no harm, and nothing is lost.
TEST_F(participants_on_redis, a_short_sleep_is_none) {
  auto asleep = std::make_shared<std::optional<std::uint32_t>>();
  int glances = 0;
  const holder_once lull{[asleep](run::process_worker_pool& workers, std::uint32_t i) {
    workers.pause(i);
    *asleep = i;
  }};
  const run::result r = run_apart(
      {.lock = "redis/lua",
       .job = "load: {instances: 4, clients: 1}\nparticipants: 4\nkeys: one\nhold: 100ms\n"
              "wait: 10s\nlease: 30s\nwarmup: 100ms\nstop: {duration: 3s}\nfloor: 0s\n"
              "guard: register\n",
       .target = redis_->target(),
       .each_glance = [&, lull](run::process_worker_pool& workers, const run::progress& p) {
         lull(workers, p);
         if (*asleep && ++glances == 3) workers.resume(**asleep);
       }});
  ASSERT_TRUE(asleep->has_value());
  EXPECT_EQ(r.how, run::ending::complete) << r.why;
  EXPECT_EQ(r.violations(), 0u);
  // No fault of the job stopped it, so that its sleep is no gap of the lock.
  EXPECT_GE(r.self.frozen.longest_ns, 200'000'000);
  EXPECT_LT(r.found.longest_gap_ns, r.self.frozen.longest_ns + 2 * r.hiccup.max_ns());
}

// A participant that cannot reach its server ends the run before the load, with a sentence.
TEST_F(participants_on_redis, one_without_a_server_is_a_sentence) {
  const taken_port nobody(false);
  std::string sentence;
  try {
    run_apart({.lock = "redis/lua",
               .job = "load: {instances: 4}\nparticipants: 4\nstop: {duration: 1s}\nfloor: 0s\n",
               .target = redis_->target(),
               .target_of = [&](std::uint32_t i) {
                 return i == 2 ? fmt::format("redis://127.0.0.1:{}", nobody.number())
                               : redis_->target();
               }});
  } catch (const no_server& e) {
    sentence = e.what();
  }
  EXPECT_THAT(sentence, HasSubstr(fmt::format("{}", nobody.number())));
  EXPECT_THAT(children_named("lm-participant", getpid()), IsEmpty());
}

TEST_F(participants_on_redis, without_any_server_it_ends_with_a_sentence) {
  const taken_port nobody(false);
  const ended e = run(dir_.path(), {"run", "contended", "--on",
                                    fmt::format("redis://127.0.0.1:{}", nobody.number()), "--out",
                                    (dir_ / "runs").string(), "--set", "participants=4"});
  EXPECT_EQ(e.status, 2);
  EXPECT_THAT(without_progress(e.err), is_one_sentence());
}

// Ctrl-C in a terminal goes to lockmark's group; the participants end in order, and so does the
// run.
TEST_F(participants_on_redis, an_interrupt_is_lockmarks_own) {
  program p(contended("30s"), dir_.path());
  const std::vector<pid_t> all = those_of(p);
  for (const pid_t one : all) {
    EXPECT_EQ(getpgid(one), one) << "in a group of its own";
    EXPECT_EQ(read_text(fmt::format("/proc/{}/cmdline", one)),
              std::string("lockmark\0participant\0", 21));
  }
  kill(-p.pid(), SIGINT);
  const ended e = p.wait(20s);
  EXPECT_EQ(e.status, 3) << e.out << e.err;
  EXPECT_THAT(still_there(all, 0s), IsEmpty());
  const auto told = read_json(only_folder(dir_ / "runs") / "run.json");
  EXPECT_EQ(told["run"]["status"], "interrupted");
  EXPECT_THAT(marks_but_stalls(told), IsEmpty());
  EXPECT_THAT(state_of(*config::parse_target(redis_->target()), dir_.path()),
              testing::Not(HasSubstr("lockmark")));
}

// A participant is killed from outside: the folder and the report name it and the time.
TEST_F(participants_on_redis, a_death_stands_in_the_folder_and_the_report) {
  program p(contended("2s"), dir_.path());
  const std::vector<pid_t> all = those_of(p);
  ASSERT_THAT(all, SizeIs(4));
  kill(all[0], SIGKILL);
  const ended e = p.wait(60s);
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.out << e.err;
  EXPECT_THAT(e.out, HasSubstr("was killed by signal 9"));
  const auto told = read_json(only_folder(dir_ / "runs") / "run.json");
  EXPECT_EQ(told["run"]["status"], "complete");
  EXPECT_THAT(told["marks"].dump(), HasSubstr(R"("kind":"participant_died")"));
  EXPECT_EQ(told["verdict"]["held"], true);
}

// However lockmark is killed, its participants die with it, even a stopped one.
// (The last test: the run's leftovers on the server are never cleaned up.)
TEST_F(participants_on_redis, do_not_outlive_lockmark) {
  program p(contended("30s"), dir_.path());
  const std::vector<pid_t> all = those_of(p);
  ASSERT_THAT(all, SizeIs(4));
  kill(all[1], SIGSTOP);
  p.signal(SIGKILL);
  p.wait(10s);
  EXPECT_THAT(still_there(all, 2s), IsEmpty());
}

// The other kinds of server, where a session ends with its client: at once with its connection, or
// after its timeout.
struct session_lock {
  const char* topology;
  const char* lock;
  const char* lasts;
  double least_s, most_s;  // how long a dead holder's lock blocks its key
};
void PrintTo(const session_lock& l, std::ostream* out) {
  *out << l.lock;
}

class participants_elsewhere : public testing::TestWithParam<session_lock> {};

TEST_P(participants_elsewhere, a_dead_holders_lock_comes_back_with_its_session) {
  const session_lock& what = GetParam();
  const local::cluster servers = local::cluster::start(what.topology);
  const holder_once hit{
      [](run::process_worker_pool& workers, std::uint32_t i) { workers.kill(i); }};
  const run::result r = run_apart(
      {.lock = what.lock,
       .job = fmt::format("load: {{instances: 4, clients: 1}}\nparticipants: 4\nkeys: one\n"
                          "hold: 100ms\nwait: 10s\nsession_timeout: 4s\nwarmup: 100ms\n"
                          "stop: {{duration: {}}}\nfloor: 0s\nguard: register\n",
                          what.lasts),
       .target = servers.target(),
       .each_glance = hit});
  ASSERT_EQ(*hit.hurt, 1);
  EXPECT_EQ(r.how, run::ending::complete) << r.why;
  EXPECT_EQ(r.violations(), 0u);
  EXPECT_EQ(r.found.guard->lost_updates, 0u);
  EXPECT_EQ(r.found.orphaned, 1u);
  const double blocked_s = static_cast<double>(r.found.longest_orphaned_ns) / 1e9;
  EXPECT_GT(blocked_s, what.least_s);
  EXPECT_LT(blocked_s, what.most_s + 2 * static_cast<double>(r.hiccup.max_ns()) / 1e9);
  EXPECT_GE(r.found.grants, 10u);
}

// Where the connection is the session, its end is seen at once, or on a busy machine a little
// later; a server that did not see it would block the key to the end of the run. The session
// timeout of 4 s, less up to a third since the last ping, plus up to a tick of 2 s.
INSTANTIATE_TEST_SUITE_P(
    each, participants_elsewhere,
    testing::Values(session_lock{"zookeeper", "zookeeper/sequential", "8s", 2.4, 6.6},
                    session_lock{"mysql", "mysql/for_update", "8s", 0, 6},
                    session_lock{"mysql", "mysql/get_lock", "8s", 0, 6},
                    session_lock{"postgres", "postgres/advisory", "8s", 0, 6},
                    session_lock{"postgres", "postgres/for_update", "8s", 0, 6}),
    [](const auto& instance) {
      std::string name = instance.param.lock;
      std::replace(name.begin(), name.end(), '/', '_');
      return name;
    });

}  // namespace
}  // namespace lockmark::cli
