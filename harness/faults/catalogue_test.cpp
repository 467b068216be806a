#include "harness/faults/catalogue.hpp"

#include <gtest/gtest.h>

namespace lockmark::faults {
namespace {

TEST(catalogue, matches_whole_names_only) {
  EXPECT_TRUE(any_matches("redis/* mysql/get_lock", "redis/lua"));
  EXPECT_TRUE(any_matches("redis/* mysql/get_lock", "mysql/get_lock"));
  EXPECT_FALSE(any_matches("redis/lua", "redis/lua2"));
  EXPECT_FALSE(any_matches("", "redis/lua"));
}

TEST(catalogue, names_each_scenario_completely) {
  for (const scenario& s : catalogue()) {
    EXPECT_FALSE(s.name.empty());
    EXPECT_FALSE(s.locks.empty()) << s.name;
    EXPECT_FALSE(s.topologies.empty()) << s.name;
  }
}

}  // namespace
}  // namespace lockmark::faults
