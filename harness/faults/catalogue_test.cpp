#include "harness/faults/catalogue.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "harness/base/glob.hpp"

namespace lockmark::faults {
namespace {

TEST(catalogue, names_each_scenario_completely) {
  for (const scenario& s : catalogue()) {
    EXPECT_FALSE(s.name.empty());
    EXPECT_FALSE(s.locks.empty()) << s.name;
    EXPECT_FALSE(s.topologies.empty()) << s.name;
  }
}

// A row of the matrix is a scenario, a lock with its options and a topology: a second one of the
// same would be taken for a repetition.
TEST(catalogue, tries_nothing_twice) {
  std::set<std::string> seen;
  for (const scenario& s : catalogue()) {
    std::istringstream locks{std::string{s.locks}};
    for (std::string lock; locks >> lock;) {
      std::istringstream topologies{std::string{s.topologies}};
      for (std::string topology; topologies >> topology;) {
        const auto row = fmt::format("{} {} {} {}", s.name, lock, topology, s.options);
        EXPECT_TRUE(seen.insert(row).second) << row;
      }
    }
  }
}

// What was asked for: each with the locks that make the point, and those that do not suffer.
TEST(catalogue, sets_what_breaks_beside_what_does_not) {
  const auto options_of = [](std::string_view name, std::string_view lock) {
    std::vector<std::string_view> all;
    for (const scenario& s : catalogue()) {
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
              IsSupersetOf({"", "wait=false"}));
  for (const char* lock : {"mysql/for_update", "mysql/unique_key"}) {
    EXPECT_FALSE(options_of("replica_promoted", lock).empty()) << lock;
    EXPECT_FALSE(options_of("replica_promoted_cut", lock).empty()) << lock;
    EXPECT_FALSE(options_of("connection_cut", lock).empty()) << lock;
  }
}

}  // namespace
}  // namespace lockmark::faults
