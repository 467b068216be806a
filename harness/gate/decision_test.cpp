// One metric: the direction of its differences, and what pairs can and cannot show.
#include "harness/gate/decision.hpp"

#include <gtest/gtest.h>

#include <cmath>
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

// Ten differences as evenly spread as a normal distribution: its quantiles.
std::vector<double> ten_around(double middle, double spread) {
  std::vector<double> all;
  for (const double q : {0.131, 0.402, 0.702, 1.071, 1.656}) {
    all.push_back(middle + spread * q);
    all.push_back(middle - spread * q);
  }
  return all;
}

assessment assessed(const metric& m, const std::vector<double>& differences) {
  return assess(m, rank_shift::of_pairs(differences), 0.95);
}

// With a spread of 0.10 ten pairs accuse from 6 % on, and a worsening must be 7 % larger to be
// there nearly always; a larger tolerance is added to that, not hidden in it.
TEST(gate_blind_spot, counts_spread_and_tolerance) {
  metric m{"p50"};
  m.tolerated = 0;
  const double without = assessed(m, ten_around(0, 0.1)).blind_spot;
  EXPECT_NEAR(without, 0.146, 0.005);
  EXPECT_NEAR(assessed(m, ten_around(0, 0.05)).blind_spot, without / 2, 0.01);
  m.tolerated = 0.20;
  EXPECT_NEAR(assessed(m, ten_around(0, 0.1)).blind_spot, 1.2 * std::exp(0.074) - 1, 0.005);
  EXPECT_NEAR(assessed(m, std::vector<double>(10, 0.0)).blind_spot, 0.20, 1e-9);
}

// What is not worse has its upper bound at the detectable worsening at most.
TEST(gate_blind_spot, is_ruled_out_by_what_is_not_worse) {
  const metric m{"p50"};
  for (const double effect : {-0.05, 0.0, 0.04, 0.05, 0.06, 0.08, 0.2}) {
    const auto differences = ten_around(effect, 0.1);
    const assessment a = assessed(m, differences);
    const double most = rank_shift::of_pairs(differences).upper_bound(0.975);
    EXPECT_EQ(a.worse, std::expm1(most) > a.blind_spot + 1e-12) << effect;
  }
}

// Bounds enclose the effect, and one pair gives no bound.
TEST(gate_bounds, are_as_wide_as_the_pairs_are_few) {
  const std::vector<double> ten{0.10, 0.11, 0.12, 0.09, 0.13, 0.08, 0.10, 0.12, 0.11, 0.10};
  const assessment a = assessed({"p50"}, ten);
  EXPECT_LT(a.least, a.effect);
  EXPECT_GT(a.most, a.effect);
  EXPECT_TRUE(a.worse);
  const assessment one = assessed({"p50"}, {0.1});
  EXPECT_FALSE(one.worse);
  EXPECT_LE(one.least, -1);
  EXPECT_TRUE(std::isinf(one.blind_spot));
}

}  // namespace
}  // namespace lockmark::gate
