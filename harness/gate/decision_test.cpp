// One metric: the direction of its differences, and what pairs can and cannot show.
#include "harness/gate/decision.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace lockmark::gate {
namespace {

TEST(gate_direction, is_turned_where_more_is_better) {
  metric throughput{"throughput"};
  throughput.higher_is_better = true;
  EXPECT_GT(worsening(throughput, 100, 80), 0);
  EXPECT_LT(worsening({"p50"}, 100, 80), 0);
}

TEST(gate_counters, are_worse_beyond_what_is_tolerated) {
  metric commands{"commands_per_acquire"};
  commands.exact = true;
  commands.tolerated = 0.005;
  EXPECT_TRUE(exactly_worse(commands, worsening(commands, 2, 3)));
  EXPECT_FALSE(exactly_worse(commands, worsening(commands, 2, 2.001)));
  EXPECT_FALSE(exactly_worse(commands, worsening(commands, 3, 2)));
}

// The reference table: with a spread of 0.10, ten pairs detect 15 %, twenty detect 10 %.
TEST(gate_blind_spot, shrinks_with_more_pairs) {
  std::vector<double> ten, twenty;
  for (int i = 0; i < 10; ++i) ten.push_back(i % 2 == 0 ? 0.0949 : -0.0949);
  for (int i = 0; i < 20; ++i) twenty.push_back(i % 2 == 0 ? 0.0975 : -0.0975);
  EXPECT_NEAR(smallest_detectable(ten), 0.147, 0.003);
  EXPECT_NEAR(smallest_detectable(twenty), 0.102, 0.003);
  EXPECT_NEAR(smallest_detectable(ten, 40), 0.071, 0.003);
}

// Bounds enclose the effect, and one pair gives no bound.
TEST(gate_bounds, are_as_wide_as_the_pairs_are_few) {
  const std::vector<double> ten{0.10, 0.11, 0.12, 0.09, 0.13, 0.08, 0.10, 0.12, 0.11, 0.10};
  const assessment a = assess({"p50"}, ten, 0.975);
  EXPECT_LT(a.least, a.effect);
  EXPECT_GT(a.most, a.effect);
  EXPECT_TRUE(a.worse);
  const assessment one = assess({"p50"}, std::vector{0.1}, 0.975);
  EXPECT_FALSE(one.worse);
  EXPECT_LE(one.least, -1);
}

}  // namespace
}  // namespace lockmark::gate
