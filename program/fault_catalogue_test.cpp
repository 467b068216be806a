// The fault catalogue, and the locks that each scenario applies to.
#include "workloads/fault_catalogue.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "deploy/local/topology.hpp"
#include "harness/base/glob.hpp"
#include "program/catalogue.hpp"
#include "workloads/jobs.hpp"

namespace lockmark::workloads {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream in{std::string{text}};
  return {std::istream_iterator<std::string>{in}, {}};
}

// The program's locks that the scenario applies to, on one topology.
std::vector<std::string> locks_for(const scenario& s, const std::string& topology) {
  static const cli::catalogue known;
  std::vector<std::string> names;
  for (const lock_kind& lock : known.locks()) {
    if (cli::runs_on(lock, topology) && concerns(s, lock.name, lock.has)) {
      names.emplace_back(lock.name);
    }
  }
  return names;
}

// A misspelt name would silently drop its lock or its servers.
TEST(fault_catalogue, names_nothing_that_is_not_there) {
  for (const scenario& s : fault_catalogue()) {
    EXPECT_TRUE(shipped_jobs().contains(fmt::format("faults/{}", s.name))) << s.name;
    for (const std::string& name : words_of(s.locks)) {
      bool found = false;
      for (const std::string& topology : words_of(s.topologies)) {
        const auto locks = locks_for(s, topology);
        found = found || std::ranges::any_of(locks, [&](auto& l) { return matches_any(name, l); });
      }
      EXPECT_TRUE(found) << s.name << ": " << name;
    }
    for (const std::string& topology : words_of(s.topologies)) {
      EXPECT_FALSE(locks_for(s, topology).empty()) << s.name << " on " << topology;
    }
  }
}

// A row of the matrix is a scenario, a lock with its options and a topology: a duplicate would be
// mistaken for a repetition.
TEST(fault_catalogue, tries_nothing_twice) {
  std::set<std::string> seen;
  for (const scenario& s : fault_catalogue()) {
    for (const std::string& topology : words_of(s.topologies)) {
      for (const std::string& lock : locks_for(s, topology)) {
        const auto row = fmt::format("{} {} {} {}", s.name, lock, topology, s.options);
        EXPECT_TRUE(seen.insert(row).second) << row;
      }
    }
  }
  EXPECT_GE(seen.size(), 205u);
}

// Replaces a list of exclusions kept by hand, so that a new lock needs no entry.
TEST(fault_catalogue, chooses_by_what_a_lock_can_do) {
  const auto& all = fault_catalogue();
  const auto named = [&](std::string_view name) {
    return *std::ranges::find(all, name, &scenario::name);
  };
  EXPECT_TRUE(concerns(named("holder_killed"), "redis/new", {}));
  EXPECT_FALSE(concerns(named("holder_killed"), "redis/new", feature::shared));
  EXPECT_FALSE(concerns(named("holder_killed"), "mysql/new", feature::optimistic));
  EXPECT_FALSE(concerns(named("holder_killed"), "exec/redisson", feature::lease));
  EXPECT_FALSE(concerns(named("work_outlives_lease"), "redis/new", {}));
  EXPECT_TRUE(concerns(named("work_outlives_lease"), "redis/new", feature::lease));
  EXPECT_FALSE(concerns(named("work_outlives_lease_renewed"), "redis/new", feature::lease));
}

// Each required scenario runs on locks that it breaks and on locks that survive it.
TEST(fault_catalogue, sets_what_breaks_beside_what_does_not) {
  const auto options_of = [](std::string_view name, std::string_view lock) {
    std::vector<std::string_view> all;
    for (const scenario& s : fault_catalogue()) {
      if (s.name == name && matches_any(s.locks, lock)) all.push_back(s.options);
    }
    return all;
  };
  using testing::IsSupersetOf;
  EXPECT_THAT(options_of("unindexed_for_update", "mysql/for_update"),
              IsSupersetOf({"indexed=false", "indexed=true"}));
  EXPECT_THAT(options_of("holder_killed", "mysql/unique_key"),
              IsSupersetOf({"sweep=off", "sweep=3s"}));
  EXPECT_THAT(options_of("failover_replication_cut", "redis/lua"),
              IsSupersetOf({"", "wait_replicas=1"}));
  EXPECT_THAT(options_of("failover_replication_cut", "redis/redisson"),
              IsSupersetOf({"", "wait=none"}));
  for (const char* lock : {"mysql/for_update", "mysql/unique_key"}) {
    EXPECT_FALSE(options_of("replica_promoted", lock).empty()) << lock;
    EXPECT_FALSE(options_of("replica_promoted_cut", lock).empty()) << lock;
    EXPECT_FALSE(options_of("connection_cut", lock).empty()) << lock;
  }
}

}  // namespace
}  // namespace lockmark::workloads
