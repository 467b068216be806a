// Participants in processes of their own, without a server: each has its own memory lock, which is
// correct for own keys and, on a shared key, excludes no client of another participant.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <fstream>
#include <set>

#include "program/participants_fixture.hpp"
#include "program/test_servers.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using run::phase;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* own_keys =
    "load: {instances: 4, clients: 2}\nparticipants: 4\nkeys: own\nhold: 1ms\nwarmup: 50ms\n"
    "stop: {duration: 2s}\nfloor: 0s\n";

constexpr const char* one_key =
    "load: {instances: 4, clients: 1}\nparticipants: 4\nkeys: one\nhold: 1ms\nwarmup: 50ms\n"
    "stop: {duration: 500ms}\nfloor: 0s\nguard: register\n";

// Beside it, the marks may tell of a machine that let nobody run for a moment.
bool tells_of_a_death(const run::result& r) {
  return std::ranges::find(r.marks, "participant_died", &run::mark::kind) != r.marks.end();
}

// Disturbs a participant once, in the middle of the window.
interference once(std::function<void(run::process_worker_pool&)> how) {
  return [how = std::move(how), done = false](run::process_worker_pool& workers,
                                              const run::progress& p) mutable {
    if (done || p.now != phase::measuring || p.elapsed_s < 0.3) return;
    done = true;
    how(workers);
  };
}

// The same results as a run in threads: grants of all clients, intervals, durations, CPU.
TEST(participants, measure_what_threads_do) {
  const run::result r = run_apart({.lock = "memory/lock", .job = own_keys, .target = "memory:"});
  EXPECT_EQ(r.how, run::ending::complete) << r.why;
  EXPECT_EQ(r.violations(), 0u);
  EXPECT_EQ(r.workers, 4u);
  ASSERT_EQ(r.found.grants_by_client.size(), 8u);
  for (const std::uint64_t grants : r.found.grants_by_client) EXPECT_GT(grants, 50u);
  // Events and intervals are two records of the same grants.
  const auto granted = static_cast<double>(r.totals.counts[run::counter::granted]);
  EXPECT_NEAR(granted, static_cast<double>(r.found.grants), 0.02 * granted);
  EXPECT_EQ(static_cast<double>(r.totals[run::series::response].count()), granted);
  EXPECT_GE(r.totals[run::series::hold].value_at_quantile(0.5), 990'000);
  EXPECT_GE(r.timeline.size(), 1u);
  EXPECT_GT(r.harness_cpu, 0.01);
  EXPECT_GT(r.busiest_worker, 0.001);
  EXPECT_GE(r.grants_in_all, r.found.grants);
  EXPECT_NEAR(r.found.clients_in_flight, 8, 1);
  EXPECT_EQ(r.absent_share, 0);
  EXPECT_FALSE(tells_of_a_death(r));
}

// Two holders in two processes: found by their intervals, and by the guarded register.
TEST(participants, are_checked_across_processes) {
  const run::result r = run_apart({.lock = "memory/lock", .job = one_key, .target = "memory:"});
  EXPECT_GT(r.found.certain_violations, 0u);
  std::set<bool> across;
  for (const auto& v : r.found.violations) across.insert(v.first.client != v.second.client);
  EXPECT_THAT(across, ElementsAre(true));
  ASSERT_TRUE(r.found.guard.has_value());
  EXPECT_GT(r.found.guard->lost_updates, 0u);
  EXPECT_GT(r.found.guard->writes, r.found.grants / 2);
  EXPECT_GT(r.violations(), 0u);
}

// The faulty lock is caught as well, with two holders in one process.
TEST(participants, show_the_faults_of_a_lock_that_one_of_them_has) {
  const run::result r =
      run_apart({.lock = "faulty/lock",
                 .job = "load: {instances: 2, clients: 4}\nparticipants: 1\nkeys: one\nhold: 1ms\n"
                        "warmup: 50ms\nstop: {duration: 500ms}\nfloor: 0s\nguard: register\n"
                        "options: {two_holders: 20}\n",
                 .target = "memory:"});
  EXPECT_GT(r.found.certain_violations, 0u);
  EXPECT_GT(r.found.guard->lost_updates, 0u);
  EXPECT_GT(r.found.guard->stale_accesses + r.found.stale_tokens, 0u);
}

// Killed by a fault: the run continues, and the dead participant holds nothing.
TEST(participants, can_be_killed) {
  std::uint64_t left = 0;
  const run::result r = run_apart({.lock = "memory/lock",
                                   .job = own_keys,
                                   .target = "memory:",
                                   .each_glance = once([&](run::process_worker_pool& workers) {
                                     const time_point at = workers.kill(2);
                                     EXPECT_LE(at, real_clock{}.now());
                                     EXPECT_FALSE(workers.lives(2));
                                     for (std::uint32_t i = 0; i < workers.count(); ++i)
                                       left += workers.lives(i) ? 1 : 0;
                                   })});
  EXPECT_EQ(left, 3u);
  EXPECT_EQ(r.how, run::ending::complete) << r.why;
  EXPECT_EQ(r.violations(), 0u);
  // Instance 2 has clients 4 and 5; it lived for a part of the window.
  EXPECT_LT(r.found.grants_by_client[4], r.found.grants_by_client[0]);
  EXPECT_GT(r.found.grants_by_client[4], 0u);
  EXPECT_GT(r.absent_share, 0.05);
  EXPECT_LE(r.absent_share, 0.25);
  EXPECT_FALSE(tells_of_a_death(r)) << "who asked for a death tells of it himself";
}

// An open loop owes the arrivals of the living; those that a dead participant never handed over are
// not held against the harness.
TEST(participants, that_are_killed_owe_no_arrivals) {
  bool done = false;
  const run::result r = run_apart(
      {.lock = "memory/lock",
       .job = "load: {loop: open, instances: 2, clients: 8, rate: 400/s}\nparticipants: 2\n"
              "keys: own\nwarmup: 50ms\nstop: {duration: 3s}\nfloor: 0s\n",
       .target = "memory:",
       .each_glance = [&](run::process_worker_pool& workers, const run::progress& p) {
         if (done || p.now != phase::measuring || p.elapsed_s < 0.8) return;
         done = true;
         workers.kill(1);
       }});
  EXPECT_EQ(r.how, run::ending::complete) << r.why;
  EXPECT_GT(r.absent_share, 0.2);
  EXPECT_NEAR(r.self.achieved_per_s, r.self.offered_per_s, 0.05 * r.self.offered_per_s);
}

// lockmark with all its threads: the summary says who stood still, when and how long.
TEST(lockmark_itself, that_is_stopped_unasked_spoils_the_figures) {
  for (const char* loop : {"loop: closed", "loop: open, rate: 400/s"}) {
    const scratch dir;
    std::ofstream(dir / "job.yaml") << "lock: memory/lock\nload: {instances: 4, clients: 2, "
                                    << loop << "}\nkeys: own\nhold: 1ms\nwarmup: 0s\n"
                                    << "stop: {duration: 4s}\nfloor: 0s\n";
    program p(lockmark({"run", (dir / "job.yaml").string(), "--on", "memory:", "--out",
                        (dir / "runs").string()}),
              dir.path());
    ASSERT_TRUE(p.says("measuring")) << p.err();
    p.signal(SIGSTOP);
    poll(nullptr, 0, 2500);
    p.signal(SIGCONT);
    const ended e = p.wait(60s);
    EXPECT_EQ(e.status, 3) << e.err;
    EXPECT_THAT(e.out, AllOf(HasSubstr("INVALID"), HasSubstr("lockmark stood still for 2."),
                             HasSubstr("by no fault of the job"), HasSubstr("meanwhile")))
        << loop;
    const auto told = read_json(only_folder(dir / "runs") / "run.json");
    EXPECT_FALSE(told["verdict"]["valid"]);
    EXPECT_LT(told["longest_gap"]["length_ns"], 2'000'000'000) << "it is not the lock's";
  }
}

// Killed from outside: the result reports it.
TEST(participants, that_die_unasked_are_told_of) {
  const run::result r = run_apart({.lock = "memory/lock",
                                   .job = own_keys,
                                   .target = "memory:",
                                   .each_glance = once([](run::process_worker_pool& workers) {
                                     ::kill(workers.pid(1), SIGKILL);
                                   })});
  EXPECT_EQ(r.how, run::ending::complete) << r.why;
  EXPECT_EQ(r.violations(), 0u);
  const auto death = std::ranges::find(r.marks, "participant_died", &run::mark::kind);
  ASSERT_NE(death, r.marks.end());
  EXPECT_THAT(death->text, HasSubstr("participant 1 of 4 was killed by signal 9"));
  EXPECT_GT(death->at_s, 0.1);
  EXPECT_LT(death->at_s, r.window_s());
}

// Stopped from outside for most of the window: its silence is not the lock's, and the figures are
// those of three participants.
TEST(participants, that_are_stopped_unasked_spoil_the_figures) {
  for (const char* loop : {"loop: closed", "loop: open, rate: 400/s"}) {
    const std::string job = std::string("load: {instances: 4, clients: 2, ") + loop +
                            "}\nparticipants: 4\nkeys: own\nhold: 1ms\nwarmup: 50ms\n"
                            "stop: {duration: 2s}\nfloor: 0s\n";
    bool stopped = false, resumed = false;
    const run::result r =
        run_apart({.lock = "memory/lock",
                   .job = job,
                   .target = "memory:",
                   .each_glance = [&](run::process_worker_pool& workers, const run::progress& p) {
                     if (p.now != phase::measuring) return;
                     if (!std::exchange(stopped, true)) ::kill(workers.pid(1), SIGSTOP);
                     if (p.elapsed_s > 1.5 && !std::exchange(resumed, true))
                       ::kill(workers.pid(1), SIGCONT);
                   }});
    EXPECT_EQ(r.how, run::ending::complete) << r.why;
    EXPECT_FALSE(r.verdict.valid) << loop;
    EXPECT_THAT(texts_of(r.verdict.reasons),
                Contains(AllOf(HasSubstr("participant 2 stood still for 1."),
                               HasSubstr("by no fault of the job"))));
  }
}

// A participant dies at every glance, in the middle of a write: no hang, no violation.
TEST(participants, may_die_one_after_another) {
  const run::result r = run_apart(
      {.lock = "memory/lock",
       .job = "load: {instances: 8, clients: 3}\nparticipants: 8\nkeys: own\nhold: 100us\nwarmup: "
              "50ms\n"
              "stop: {duration: 2s}\nfloor: 0s\n",
       .target = "memory:",
       .each_glance = [next = 0u](run::process_worker_pool& workers,
                                  const run::progress& p) mutable {
         if (p.now == phase::measuring && next + 1 < workers.count()) workers.kill(next++);
       }});
  EXPECT_EQ(r.how, run::ending::complete) << r.why;
  EXPECT_EQ(r.violations(), 0u);
}

TEST(participants, when_all_are_dead_the_run_is_over) {
  const run::result r = run_apart({.lock = "memory/lock",
                                   .job = "load: {instances: 2}\nparticipants: 2\nkeys: own\n"
                                          "hold: 1ms\n"
                                          "stop: {duration: 60s}\nwarmup: 50ms\nfloor: 0s\n",
                                   .target = "memory:",
                                   .each_glance = once([](run::process_worker_pool& workers) {
                                     workers.kill(0);
                                     workers.kill(1);
                                   })});
  EXPECT_EQ(r.how, run::ending::failed);
  EXPECT_EQ(r.why, "every participant has died");
  EXPECT_LT(r.window_s(), 10);
}

// The run ends while a participant is stopped: it is resumed, and its figures are included.
TEST(participants, that_are_stopped_at_the_end_are_woken) {
  const run::result r =
      run_apart({.lock = "memory/lock",
                 .job = own_keys,
                 .target = "memory:",
                 .each_glance = once([](run::process_worker_pool& workers) { workers.pause(3); })});
  EXPECT_EQ(r.how, run::ending::complete) << r.why;
  EXPECT_EQ(r.violations(), 0u);
  EXPECT_GT(r.found.grants_by_client[6], 0u);
  EXPECT_LT(r.found.grants_by_client[6], r.found.grants_by_client[0]);
  EXPECT_FALSE(r.verdict.valid) << "no fault of the job stopped it";
  ASSERT_FALSE(r.marks.empty());
  EXPECT_EQ(r.marks.back().kind, "stood_still");
}

// A ring overflows because nobody reads it for long: the run ends with a sentence and no figures.
TEST(participants, do_not_lose_events_in_silence) {
  const run::result r =
      run_apart({.lock = "memory/lock",
                 .job = "load: {instances: 1, clients: 4}\nparticipants: 1\n"
                        "keys: own\nstop: {duration: 30s}\nwarmup: 50ms\n"
                        "floor: 0s\n",
                 .target = "memory:",
                 .each_glance = once([](run::process_worker_pool&) { poll(nullptr, 0, 4'000); })});
  EXPECT_EQ(r.how, run::ending::failed);
  EXPECT_THAT(r.why, HasSubstr("participant 0 measured more than was read in time"));
  EXPECT_LT(r.window_s(), 15);
  EXPECT_EQ(r.violations(), 0u);
}

// A program other than lockmark ends the run before it has begun, with a sentence.
TEST(participants, that_do_not_come_up_are_a_sentence) {
  for (const char* program : {"/bin/false", "/nowhere/lockmark"}) {
    std::string sentence;
    try {
      run_apart({.lock = "memory/lock", .job = own_keys, .target = "memory:", .program = program});
    } catch (const std::exception& e) {
      sentence = e.what();
    }
    EXPECT_THAT(sentence, testing::ContainsRegex("participant [0-3] ended with exit status [0-9]+ "
                                                 "before it was ready"));
  }
}

class refusals : public testing::Test {
 protected:
  std::string refusal_of(std::vector<std::string> settings, const char* job = "contended") {
    std::vector<std::string> words{"run",     job,     "--on",
                                   "memory:", "--out", (dir_ / "runs").string()};
    for (std::string& s : settings) {
      words.emplace_back("--set");
      words.push_back(std::move(s));
    }
    const ended e = run(dir_.path(), words);
    EXPECT_EQ(e.status, 2);
    EXPECT_THAT(e.err, is_one_sentence());
    return e.err;
  }
  scratch dir_;
};

TEST_F(refusals, of_participants) {
  EXPECT_THAT(refusal_of({"participants=4"}), HasSubstr("need a server between them"));
  EXPECT_THAT(refusal_of({"participants=5"}), HasSubstr("more than the 4 of load.instances"));
  EXPECT_THAT(refusal_of({"participants=2", "load.threads=2"}), HasSubstr("load.threads"));
}

// An external lock client participates like any other, but is not stopped with its participant.
TEST_F(refusals, of_pausing_what_only_stands_before_the_client) {
  const fs::path job = dir_ / "job.yaml";
  std::ofstream(job) << "lock: exec/lock\nload: {instances: 2}\nparticipants: 2\nstop: {duration: "
                        "1s}\nfaults:\n  - {do: pause, who: holder, at: 1s, for: 1s}\n";
  const ended e = run(dir_.path(), {"run", job.string(), "--on", "exec:/bin/false", "--out",
                                    (dir_ / "runs").string()});
  EXPECT_EQ(e.status, 2);
  EXPECT_THAT(without_progress(e.err), is_one_sentence());
  EXPECT_THAT(e.err, HasSubstr("not the program that is its lock client"));
}

TEST_F(refusals, of_a_guard) {
  EXPECT_THAT(refusal_of({"guard=register", "lock=memory/optimistic"}),
              HasSubstr("nobody holds memory/optimistic"));
  EXPECT_THAT(refusal_of({"guard=register", "lock=memory/semaphore"}), HasSubstr("admits"));
  EXPECT_THAT(refusal_of({"guard=mutex"}), HasSubstr("none or register"));
}

// An internal command: it is in no help, and says that lockmark calls it.
TEST_F(refusals, of_the_hidden_command) {
  const ended by_hand = run(dir_.path(), {"participant"});
  EXPECT_EQ(by_hand.status, 2);
  EXPECT_THAT(by_hand.err, is_one_sentence());
  const ended help = run(dir_.path(), {"--help"});
  EXPECT_THAT(help.out, testing::Not(HasSubstr("participant")));
}

}  // namespace
}  // namespace lockmark::cli
