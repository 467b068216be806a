// The exit status of a run, for scripts: each proof and each ending, one at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "program/execute.hpp"

namespace lockmark::cli {
namespace {

run::result held() {
  run::result r;
  r.how = run::ending::complete;
  r.verdict.valid = true;
  return r;
}

TEST(exit_status, is_0_where_the_lock_held) {
  EXPECT_EQ(exit_status(held()), 0);
  run::result r = held();
  r.verdict.bound = true;
  r.verdict.saturated = true;
  r.found.possible_violations = 1;
  r.found.orphaned = 1;
  r.found.guard.emplace().writes_without_token = 5;
  EXPECT_EQ(exit_status(r), 0);
}

// Each of them is a proof by itself, whatever the run's ending.
TEST(exit_status, is_1_for_each_proof_that_the_lock_is_none) {
  using proof = void (*)(run::result&);
  const std::pair<const char*, proof> proofs[] = {
      {"overlap", [](run::result& r) { r.found.certain_violations = 1; }},
      {"token", [](run::result& r) { r.found.stale_tokens = 1; }},
      {"lost update", [](run::result& r) { r.found.lost_updates = 1; }},
      {"promise", [](run::result& r) { ++r.totals.counts[run::counter::broken_promises]; }},
      {"guard, lost", [](run::result& r) { r.found.guard.emplace().lost_updates = 1; }},
      {"guard, stale", [](run::result& r) { r.found.guard.emplace().stale_accesses = 1; }},
  };
  for (const auto& [name, give] : proofs) {
    for (const auto how : {run::ending::complete, run::ending::interrupted,
                           run::ending::server_lost, run::ending::failed}) {
      for (const bool valid : {true, false}) {
        run::result r = held();
        r.how = how;
        r.verdict.valid = valid;
        give(r);
        EXPECT_EQ(r.violations(), 1u) << name;
        EXPECT_EQ(exit_status(r), 1) << name;
      }
    }
  }
}

TEST(exit_status, is_2_where_the_run_could_not_go_on) {
  for (const auto how : {run::ending::server_lost, run::ending::failed}) {
    run::result r = held();
    r.how = how;
    EXPECT_EQ(exit_status(r), 2);
    r.verdict.valid = false;
    EXPECT_EQ(exit_status(r), 2);
  }
}

TEST(exit_status, is_3_where_nothing_is_concluded) {
  run::result r = held();
  r.how = run::ending::interrupted;
  EXPECT_EQ(exit_status(r), 3);
  r = held();
  r.verdict.valid = false;
  EXPECT_EQ(exit_status(r), 3);
}

// A grant to a second holder shows up in several checks, and is counted once; lost updates of
// optimistic locks and broken promises are counted separately.
TEST(violations, are_not_counted_twice) {
  run::result r = held();
  r.found.certain_violations = 3;
  r.found.stale_tokens = 4;
  r.found.guard.emplace().lost_updates = 2;
  EXPECT_EQ(r.violations(), 4u);
  r.found.guard->lost_updates = 5;
  EXPECT_EQ(r.violations(), 5u);
  r.found.lost_updates = 10;
  EXPECT_EQ(r.violations(), 15u);
}

// Names that stand for a lock and something around it.
TEST(locks_of_the_catalogue, have_versions_that_jobs_ask_for) {
  const catalogue known;
  EXPECT_EQ(known.lock("faulty/redis/lua").name, "faulty/redis/lua");
  config::job job = config::default_job();
  job.lock = "redis/redisson_write";
  EXPECT_TRUE(known.lock_for(job).has.has(feature::reentrant));
  job.read_share = 0.5;
  EXPECT_EQ(known.lock_for(job).name, "redis/redisson_write");
  job.lock = "faulty/zookeeper/write";
  EXPECT_EQ(known.lock_for(job).name, "faulty/zookeeper/write");
  EXPECT_FALSE(known.lock_for(job).has.has(feature::fencing_token));  // readers have none
  job.lock.clear();
  EXPECT_EQ(known.usual_lock("zookeeper-3", job), "zookeeper/write");
  EXPECT_EQ(known.usual_lock("redis-independent", {}), "redis/redlock");
  EXPECT_EQ(known.usual_lock("redis-clusters", {}), "redis/sharded");
  job.lock = "redis/lua";
  try {
    known.lock_for(job);
    FAIL() << "it has no readers";
  } catch (const usage_error& e) {
    EXPECT_STREQ(e.what(),
                 "read_share: lock redis/lua has no readers beside it; known with readers are "
                 "redis/redisson_write, zookeeper/write, etcd/rw, postgres/advisory, memory/write");
  }
}

// An option of the lock itself must not be taken for a fault, nor the other way round.
TEST(locks_of_the_catalogue, have_no_option_twice) {
  const catalogue known;
  for (const lock_kind& kind : known.locks()) {
    if (kind.name.starts_with("faulty/")) continue;
    std::vector<std::string_view> names;
    for (const lock_option& o : known.lock("faulty/" + std::string(kind.name)).options) {
      EXPECT_EQ(std::ranges::count(names, o.name), 0) << kind.name << " " << o.name;
      names.push_back(o.name);
    }
  }
}

}  // namespace
}  // namespace lockmark::cli
