// Broken locks in whole runs under simulated time: each check sees what it is for, and nothing
// where the lock is correct.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "drivers/faulty/faulty.hpp"
#include "drivers/memory/memory.hpp"
#include "harness/run/conductor.hpp"
#include "workloads/mutex.hpp"

namespace lockmark::run {
namespace {

lock_kind kind_of(std::string_view name) {
  for (const auto& kinds : {memory::kinds(), memory::shared_kinds(), faulty::kinds()}) {
    for (const lock_kind& k : kinds) {
      if (k.name == name) return k;
    }
  }
  throw std::logic_error("no such lock in this test");
}

// Eight clients at one key; `holders`: what the run is told of the lock.
result simulate(const lock_kind& kind, const std::string& more, std::uint32_t holders = 1) {
  const config::job job = config::parse_job(
      fmt::format("load: {{loop: closed, instances: 2, clients: 4}}\nkeys: one\nwait: 10s\n"
                  "warmup: 100ms\nstop: {{duration: 1s}}\n{}{}",
                  more.find("hold:") == more.npos ? "hold: 1ms\n" : "", more),
      "test.yaml");
  option_values options;
  for (const lock_option& o : kind.options) options[std::string(o.name)] = o.preset;
  for (const auto& [name, value] : job.options) options[name] = value;
  const auto behind = kind.make({"memory:", {"test", {"k0"}}, options});
  const workload_kind workload = workloads::mutex();
  simulated_clock clock;
  const setup s{.job = job,
                .lock = kind,
                .behind = *behind,
                .workload = workload,
                .holders = holders,
                .run_id = "test",
                .target = "memory:",
                .topology = "memory",
                .floor = std::nullopt};
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

// Held for longer than its lease: whoever comes next has a higher token, and the first one writes
// after it.
TEST(guarded_runs, a_fence_would_have_refused_who_outstays_his_lease) {
  const result r = simulate(kind_of("memory/lock"), "guard: register\nhold: 3ms\nlease: 2ms\n");
  ASSERT_TRUE(r.found.guard.has_value());
  EXPECT_GT(r.found.guard->lost_updates, 0u);
  EXPECT_GT(r.found.guard->stale_accesses, 0u);
  EXPECT_GT(r.found.certain_violations, 0u);
  EXPECT_GE(r.violations(), r.found.guard->proofs());
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

// Three places: as a semaphore of three it holds, and of two, or as a mutex, it does not.
TEST(shared_runs, a_semaphore_is_held_to_its_number) {
  const lock_kind kind = kind_of("memory/semaphore");
  ASSERT_FALSE(kind.options.empty());
  const std::string places = "options: {" + std::string(kind.options[0].name) + ": 3}\n";
  EXPECT_EQ(simulate(kind, places, 3).violations(), 0u);
  EXPECT_EQ(simulate(kind, places, 0).violations(), 0u);
  EXPECT_GT(simulate(kind, places, 2).violations(), 0u);
  EXPECT_GT(simulate(kind, places, 1).violations(), 0u);
}

// A lock that claims to be reentrant and is not.
TEST(reentrant_runs, a_broken_promise_is_counted) {
  lock_kind kind = kind_of("memory/try_lock");
  kind.has = kind.has | feature::reentrant;
  const result r = simulate(kind, "reentrancy: 2\nretry: fixed(1ms)\n");
  EXPECT_GT(r.totals.counts[counter::broken_promises], 0u);
  EXPECT_GT(r.violations(), 0u);
}

// Lost replies of acquires: neither granted nor refused.
TEST(doubtful_runs, grants_in_doubt_are_counted_as_such) {
  const result r = simulate(kind_of("faulty/lock"), "lease: 20ms\noptions: {lost_replies: 0.1}\n");
  EXPECT_GT(r.totals.counts[counter::doubt_deadline] + r.totals.counts[counter::doubt_lost], 0u);
  EXPECT_GT(r.totals.counts[counter::release_doubt], 0u);
  EXPECT_EQ(r.found.certain_violations, 0u);
}

}  // namespace
}  // namespace lockmark::run
