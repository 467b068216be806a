// Broken locks in whole runs under simulated time: each check finds its defect, and nothing on a
// correct lock.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "drivers/combined.hpp"
#include "drivers/faulty/faulty.hpp"
#include "drivers/memory/memory.hpp"
#include "harness/run/result_json.hpp"
#include "harness/run/run_job.hpp"
#include "harness/run/test_passing.hpp"
#include "workloads/workloads.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

lock_kind kind_of(std::string_view name) {
  for (const auto& kinds : {memory::kinds(), memory::shared_kinds(), faulty::kinds()}) {
    for (const lock_kind& k : kinds) {
      if (k.name == name) return k;
    }
  }
  throw std::logic_error("no such lock in this test");
}

// A lock whose server may be gone, or miscount, and whose session may be lost.
class odd_session final : public passing_session {
 public:
  odd_session(std::unique_ptr<session> inside, loop& l, time_point gone_from, time_point lost_from)
      : passing_session(std::move(inside)),
        loop_(l),
        gone_from_(gone_from),
        lost_from_(lost_from) {}
  task<outcome<grant>> acquire(request r) override {
    if (loop_.now() >= gone_from_) return nobody_there();
    if (loop_.now() >= lost_from_) lost_from_ = time_point::max();  // a new session
    return passing_session::acquire(r);
  }
  bool alive() const override { return loop_.now() < lost_from_ && passing_session::alive(); }

 private:
  // Ends a client that asks again and again without a pause, instead of the whole test.
  task<outcome<grant>> nobody_there() {
    constexpr int far_too_many = 100'000;
    if (++refused_ > far_too_many) throw std::logic_error("asked again without a pause");
    const outcome<grant> none = refusal::unavailable;
    co_return none;
  }

  int refused_ = 0;
  loop& loop_;
  time_point gone_from_;
  time_point lost_from_;
};

class odd_driver final : public passing_driver {
 public:
  using passing_driver::passing_driver;
  task<std::unique_ptr<session>> open(loop& l, instance who, time_point by) override {
    auto inner = co_await passing_driver::open(l, who, by);
    std::unique_ptr<session> made =
        std::make_unique<odd_session>(std::move(inner), l, gone_from, lost_from);
    co_return made;
  }
  task<server_counters> counters(loop& l, time_point by) override {
    if (l.now() >= counts_nothing_from) throw no_server("nobody answered");
    return passing_driver::counters(l, by);
  }
  task<std::vector<std::uint64_t>> commits(loop& l, time_point by) override {
    std::vector<std::uint64_t> counted = co_await passing_driver::commits(l, by);
    for (std::uint64_t& of_key : counted) of_key -= commits_lost;
    co_return counted;
  }

  time_point gone_from = time_point::max();
  time_point lost_from = time_point::max();
  time_point counts_nothing_from = time_point::max();
  std::uint64_t commits_lost = 0;
};

// Eight clients on one key; `holders`: the number that the run is given.
result simulate(const lock_kind& kind, const std::string& more, std::uint32_t holders = 1,
                const std::function<void(odd_driver&)>& hurt = {}) {
  const config::job job =
      config::parse_job(fmt::format("load: {{loop: closed, instances: 2, clients: 4}}\nkeys: one\n"
                                    "warmup: 100ms\nstop: {{duration: 1s}}\n{}{}{}",
                                    more.find("hold:") == more.npos ? "hold: 1ms\n" : "",
                                    more.find("wait:") == more.npos ? "wait: 10s\n" : "", more),
                        "test.yaml");
  option_values options;
  for (const lock_option& o : kind.options) options[std::string(o.name)] = o.preset;
  for (const auto& [name, value] : job.options) options[name] = value;
  odd_driver behind(kind.make({"memory:", {"test", {"k0"}}, options}));
  if (hurt) hurt(behind);
  const workload_kind workload =
      kind.has.has(feature::optimistic) ? workloads::commit() : workloads::mutex();
  simulated_clock clock;
  const setup s{.job = job,
                .lock = kind,
                .behind = behind,
                .workload = workload,
                .holders = holders,
                .run_id = "test",
                .target = "memory:",
                .topology = "memory"};
  return run_job_simulated(s, clock);
}

// The register sees two holders without any clock, and the stale one by its token.
TEST(guarded_runs, a_lock_with_two_holders_loses_updates) {
  const result r =
      simulate(kind_of("faulty/lock"), "guard: register\noptions: {two_holders: 20}\n");
  ASSERT_TRUE(r.found.guard.has_value());
  EXPECT_TRUE(r.found.guard->fenced);
  EXPECT_GT(r.found.guard->lost_updates, 0u);
  EXPECT_GE(r.found.guard->writes, r.found.grants);
  EXPECT_GE(r.violations(), r.found.guard->proofs());
}

// Held beyond its lease: the next client has a higher token, and the first one writes after it.
TEST(guarded_runs, a_fence_would_have_refused_who_outstays_his_lease) {
  const result r = simulate(kind_of("memory/lock"), "guard: register\nhold: 3ms\nlease: 2ms\n");
  ASSERT_TRUE(r.found.guard.has_value());
  EXPECT_GT(r.found.guard->lost_updates, 0u);
  EXPECT_GT(r.found.guard->stale_accesses, 0u);
  EXPECT_GT(r.found.certain_violations, 0u);
  EXPECT_GE(r.violations(), r.found.guard->proofs());
}

// The same work, by holders who look at their lease: they leave the resource alone in time.
TEST(guarded_runs, a_careful_holder_does_not_outstay_its_lease) {
  const result r =
      simulate(kind_of("memory/lock"), "guard: register\nhold: 3ms\nlease: 2ms\nholder: careful\n");
  EXPECT_EQ(r.violations(), 0u);
  EXPECT_EQ(r.found.guard->proofs(), 0u);
  EXPECT_GT(r.totals.counts[counter::holds_stopped], 100u);
  EXPECT_FALSE(r.untested().has_value());
}

// A lease that is renewed in time does not end a hold.
TEST(guarded_runs, a_careful_holder_whose_lease_is_renewed_goes_on) {
  const result r =
      simulate(kind_of("memory/lock"), "hold: 30ms\nlease: 9ms\nrenew: true\nholder: careful\n");
  EXPECT_EQ(r.violations(), 0u);
  EXPECT_EQ(r.totals.counts[counter::holds_stopped], 0u);
  EXPECT_GT(r.totals.counts[counter::renewals], 100u);
}

// What a careful holder does not see, two have: two grants at once within their leases.
TEST(guarded_runs, a_careful_holder_is_no_cure_for_a_lock_that_is_none) {
  const result r = simulate(kind_of("faulty/lock"),
                            "guard: register\nholder: careful\noptions: {two_holders: 20}\n");
  EXPECT_GT(r.found.certain_violations, 0u);
  EXPECT_GT(r.found.guard->lost_updates, 0u);
}

// A session that is lost in the middle of a hold ends it, if its holder looks.
TEST(guarded_runs, a_careful_holder_ends_with_its_session) {
  const auto stopped = [](const std::string& holder) {
    const auto lose = [](odd_driver& d) { d.lost_from = time_point{} + 605ms; };
    const result r =
        simulate(kind_of("memory/lock"), "hold: 20ms\nholder: " + holder + "\n", 1, lose);
    return r.totals.counts[counter::holds_stopped];
  };
  EXPECT_EQ(stopped("careless"), 0u);
  EXPECT_GT(stopped("careful"), 0u);
}

TEST(guarded_runs, a_lock_that_holds_loses_nothing) {
  const result r = simulate(kind_of("memory/lock"), "guard: register\n");
  ASSERT_TRUE(r.found.guard.has_value());
  EXPECT_GT(r.found.guard->writes, 500u);
  EXPECT_EQ(r.found.guard->proofs(), 0u);
  EXPECT_EQ(r.found.guard->writes_without_token, 0u);
  EXPECT_EQ(r.violations(), 0u);
  EXPECT_FALSE(simulate(kind_of("memory/lock"), "").found.guard.has_value());
}

// A semaphore with three places: it passes as one of three, but not as one of two, or as a mutex.
TEST(shared_runs, a_semaphore_is_held_to_its_number) {
  const lock_kind kind = kind_of("memory/semaphore");
  ASSERT_FALSE(kind.options.empty());
  const std::string places = "options: {" + std::string(kind.options[0].name) + ": 3}\n";
  EXPECT_EQ(simulate(kind, places, 3).violations(), 0u);
  EXPECT_EQ(simulate(kind, places, 0).violations(), 0u);
  EXPECT_GT(simulate(kind, places, 2).violations(), 0u);
  EXPECT_GT(simulate(kind, places, 1).violations(), 0u);
}

// Readers and writers of one lock in one run: they exclude each other, and readers are together.
TEST(shared_runs, readers_are_judged_beside_writers) {
  const lock_kind both = with_readers(kind_of("memory/write"), kind_of("memory/read"));
  const result r = simulate(both, "read_share: 0.8\nhold: 2ms\n");
  EXPECT_EQ(r.violations(), 0u);
  EXPECT_FALSE(r.untested().has_value());
  EXPECT_GT(r.found.grants, 1'000u);  // of holds that exclude each other there were at most 500
  EXPECT_TRUE(to_json(r)["handoff"]["held_share"].is_null());
}

// Readers who do not look for writers.
TEST(shared_runs, a_reader_beside_a_writer_is_a_violation) {
  lock_kind heedless = kind_of("memory/read");
  heedless.make = [make = heedless.make](const driver_setup& s) {
    driver_setup elsewhere = s;
    elsewhere.run_names.run += "x";
    return make(elsewhere);
  };
  const result r = simulate(with_readers(kind_of("memory/write"), heedless), "read_share: 0.5\n");
  EXPECT_GT(r.found.certain_violations, 0u);
  EXPECT_FALSE(r.untested().has_value());
}

// A wrapped lock lets in a writer beside readers, or a reader beside a writer.
TEST(shared_runs, the_faulty_version_of_readers_and_writers_is_caught) {
  const lock_kind both = with_readers(kind_of("memory/write"), kind_of("memory/read"));
  const lock_kind worse = faulty::version_of(both, "faulty/memory/write");
  const std::string job = "read_share: 0.8\nhold: 2ms\noptions: {two_holders: ";
  EXPECT_GT(simulate(worse, job + "50}\n").found.certain_violations, 0u);
  EXPECT_EQ(simulate(worse, job + "0}\n").violations(), 0u);
}

// A lock that falsely claims to be reentrant.
TEST(reentrant_runs, a_broken_promise_is_counted) {
  lock_kind kind = kind_of("memory/try_lock");
  kind.has = kind.has | feature::reentrant;
  const result r = simulate(kind, "reentrancy: 2\nretry: fixed(1ms)\n");
  EXPECT_GT(r.totals.counts[counter::broken_promises], 0u);
  EXPECT_GT(r.violations(), 0u);
}

// Lost replies to acquires: neither granted nor refused.
TEST(doubtful_runs, grants_in_doubt_are_counted_as_such) {
  const result r = simulate(kind_of("faulty/lock"), "lease: 20ms\noptions: {lost_replies: 0.1}\n");
  EXPECT_GT(r.totals.counts[counter::doubt_deadline] + r.totals.counts[counter::doubt_lost], 0u);
  EXPECT_GT(r.totals.counts[counter::release_doubt], 0u);
  EXPECT_EQ(r.found.certain_violations, 0u);
}

// Neither granted nor refused, from the first attempt to the last: no verdict and no figures.
TEST(untested_runs, are_not_said_to_have_held) {
  const result silent =
      simulate(kind_of("faulty/lock"),
               "wait: 200ms\ngive_up_after: 60s\noptions: {lost_replies: 1, delay: 5ms}\n");
  const result unreachable = simulate(kind_of("memory/lock"), "wait: 200ms\ngive_up_after: 60s\n",
                                      1, [](odd_driver& d) { d.gone_from = time_point{}; });
  for (const result* r : {&silent, &unreachable}) {
    EXPECT_EQ(r->how, ending::complete) << r->why;
    EXPECT_GT(r->attempts(), 8u);
    EXPECT_FALSE(r->answered());
    EXPECT_FALSE(r->verdict.valid);
    ASSERT_FALSE(r->verdict.reasons.empty());
    EXPECT_EQ(text_of(r->verdict.reasons[0]).find("nothing was measured: not one of "), 0u);
    EXPECT_TRUE(to_json(*r)["verdict"]["held"].is_null());
    EXPECT_LE(to_json(*r)["handoff"]["idle_while_wanted_share"].get<double>(), 1.0);
  }
}

// A run with refusals alone has an answer from its lock.
TEST(untested_runs, are_not_those_with_refusals_alone) {
  result r;
  ++r.totals.counts[counter::refused_deadline];
  judge_run(r, 1);
  EXPECT_TRUE(r.answered());
  EXPECT_TRUE(r.verdict.valid);
}

// The reasons why no wrong grant could have been seen, from the first that applies to the last.
TEST(untested_runs, say_why) {
  result r;
  r.job.instances = 2;
  r.job.clients = 4;
  r.grants_in_all = 100;
  r.totals.counts[counter::granted] = 100;
  const auto why = [&r] { return r.untested() ? r.untested()->id : std::string{}; };
  r.found.chances = 1;
  EXPECT_EQ(why(), "");
  r.found.chances = 0;
  EXPECT_EQ(why(), "untested_no_hold");
  r.found.lasting_holds = 1;
  EXPECT_EQ(why(), "untested_no_meeting");
  r.grants_in_all = 0;
  EXPECT_EQ(why(), "untested_no_grant");
  r.job.keys.kind = config::key_choice::shape::own;
  EXPECT_EQ(why(), "untested_own_keys");
  r.holders = 0;
  EXPECT_EQ(why(), "untested_shared");
  r.job.instances = r.job.clients = 1;
  EXPECT_EQ(why(), "untested_one_client");
  r.lock_has = feature::optimistic;
  EXPECT_EQ(why(), "untested_no_conflict");
  EXPECT_TRUE(to_json(r)["verdict"]["held"].is_null());
  EXPECT_EQ(to_json(r)["verdict"]["untested"]["id"], "untested_no_conflict");
  r.found.lost_updates = 1;
  EXPECT_EQ(why(), "");
  EXPECT_EQ(to_json(r)["verdict"]["held"], false);
}

// A lock that grants every other client a key that is held. If holds last, it is found; if they end
// within a turn of the one loop, nobody can see it, and nobody may say that it held.
TEST(untested_runs, are_those_whose_holds_do_not_last) {
  lock_kind broken = kind_of("faulty/lock");
  broken.has = broken.has.without(feature::fencing_token);  // which would betray it
  const std::string wrong = "options: {two_holders: 2, delay: 1ms}\n";
  const result brief = simulate(broken, "hold: 0s\n" + wrong);
  ASSERT_TRUE(brief.untested().has_value());
  EXPECT_EQ(brief.untested()->id, "untested_no_hold");
  EXPECT_GT(brief.grants_in_all, 100u);
  const result lasting = simulate(broken, "hold: 2ms\n" + wrong);
  EXPECT_FALSE(lasting.untested().has_value());
  EXPECT_GT(lasting.violations(), 10u);
  EXPECT_GE(lasting.found.chances, lasting.found.certain_violations);
}

// Locks that poll and locks that wait meet holds; readers alone exclude nobody.
TEST(untested_runs, are_those_of_readers_alone) {
  for (const char* lock : {"memory/lock", "memory/try_lock", "memory/optimistic"}) {
    const result r = simulate(kind_of(lock), "");
    EXPECT_FALSE(r.untested().has_value()) << lock;
    EXPECT_GT(r.found.chances, 100u) << lock;
    EXPECT_EQ(to_json(r)["verdict"]["held"], true);
  }
  const result readers = simulate(kind_of("memory/read"), "", 0);
  ASSERT_TRUE(readers.untested().has_value());
  EXPECT_EQ(readers.untested()->id, "untested_shared");
}

// Every commit was confirmed, but the server counts fewer: it lost some.
TEST(optimistic_runs, the_servers_own_count_is_asked) {
  const lock_kind kind = kind_of("memory/optimistic");
  EXPECT_EQ(simulate(kind, "").found.lost_updates, 0u);
  const result r = simulate(kind, "", 1, [](odd_driver& d) { d.commits_lost = 3; });
  EXPECT_EQ(r.found.lost_updates, 3u);
  EXPECT_EQ(r.violations(), 3u);
}

// The server falls silent: the run ends early, as server_lost.
TEST(lost_runs, a_silent_server_ends_the_run) {
  for (const char* lock : {"memory/lock", "memory/optimistic"}) {
    const result r = simulate(kind_of(lock), "give_up_after: 200ms\n", 1,
                              [](odd_driver& d) { d.gone_from = time_point{} + 500ms; });
    EXPECT_EQ(r.how, ending::server_lost);
    EXPECT_EQ(r.why, "no server at memory: answered for 200ms") << lock;
    EXPECT_LT(r.window_s(), 0.9);
    EXPECT_GT(r.grants_in_all, 100u);
    EXPECT_EQ(r.violations(), 0u);
  }
}

// It dies after the last attempt was answered: its own counts are gone, the figures are not.
TEST(lost_runs, a_server_that_dies_after_the_load_takes_no_figures_along) {
  for (const char* lock : {"memory/lock", "memory/optimistic"}) {
    const result r = simulate(kind_of(lock), "", 1,
                              [](odd_driver& d) { d.counts_nothing_from = time_point{} + 1s; });
    EXPECT_EQ(r.how, ending::server_lost);
    EXPECT_EQ(r.why, "after the load, nobody answered");
    EXPECT_GT(r.window_s(), 0.9);
    EXPECT_GT(r.grants_in_all, 100u);
    EXPECT_TRUE(r.server.empty());
    EXPECT_EQ(r.violations(), 0u);
  }
}

}  // namespace
}  // namespace lockmark::run
