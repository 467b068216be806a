#include "harness/capacity/evidence.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/stats/random.hpp"

namespace lockmark::capacity {
namespace {

// 120 stretches of 100 attempts; late ones come alone, or in crowds of twenty.
stretches run_with(double share, bool crowded, std::uint64_t seed) {
  stats::random_source random(seed);
  stretches run{{}, 0.5};
  for (int i = 0; i < 120; ++i) {
    stretch s{100, 0, 0};
    const int crowd = crowded ? 20 : 1;
    for (int k = 0; k < 100 / crowd; ++k) s.late += random.uniform01() < share ? crowd : 0;
    run.parts.push_back(s);
  }
  return run;
}

// A bound with a doubt of 2.5 % on each side is wrong about that often.
TEST(share, lies_within_its_bounds_as_often_as_they_say) {
  for (const bool crowded : {false, true}) {
    int above = 0, below = 0;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
      const auto b = bound_share(std::vector{run_with(0.05, crowded, seed)}, 0.025);
      above += b.high < 0.05 ? 1 : 0;
      below += b.low > 0.05 ? 1 : 0;
    }
    EXPECT_LE(above, 2000 * 0.045) << crowded;
    EXPECT_LE(below, 2000 * 0.045) << crowded;
    EXPECT_GE(above + below, 2000 * 0.01) << crowded;
  }
}

// A crowd of twenty carries about as much information as one attempt.
TEST(share, knows_what_crowds_are_worth) {
  const auto alone = bound_share(std::vector{run_with(0.1, false, 1)}, 0.025);
  const auto crowds = bound_share(std::vector{run_with(0.1, true, 1)}, 0.025);
  EXPECT_EQ(alone.attempts, 12'000);
  EXPECT_GT(alone.worth, 6'000);
  EXPECT_LT(crowds.worth, 1'500);
  EXPECT_GT(crowds.high - crowds.low, 2 * (alone.high - alone.low));
}

TEST(share, is_unknown_without_attempts_or_with_too_few_stretches) {
  EXPECT_EQ(bound_share({}, 0.025).high, 1);
  EXPECT_EQ(bound_share(std::vector{stretches{{{100, 0, 0}}, 1}}, 0.025).high, 1);
}

TEST(growth, is_the_slope_of_the_backlog_and_not_its_height) {
  stretches level{{}, 0.5}, growing{{}, 0.5};
  for (int i = 0; i < 60; ++i) {
    const double noise = 0.3 * std::sin(7.0 * i);
    level.parts.push_back({10, 0, 50 + noise});
    growing.parts.push_back({10, 0, 1.5 * i + noise});
  }
  // Two runs at different levels are not growth.
  const auto none = bound_growth(std::vector{level, stretches{level}}, 0.005);
  EXPECT_LT(none.low, 0);
  EXPECT_GT(none.high, 0);
  const auto some = bound_growth(std::vector{growing}, 0.005);
  EXPECT_NEAR(some.per_s, 3, 0.05);
  EXPECT_GT(some.low, 2.5);
}

TEST(means, follow_from_littles_law) {
  stretches run{{}, 0.5};
  for (int i = 0; i < 60; ++i) run.parts.push_back({100 + i % 3, 0, 2.0 + 0.1 * (i % 5)});
  // On average 2.2 are waiting, at 202 attempts a second.
  const auto wait = bound_mean_wait_s(std::vector{run}, 0.025);
  EXPECT_NEAR(wait.value, 2.2 / 202, 1e-4);
  EXPECT_LT(wait.low, wait.value);
  EXPECT_NEAR(bound_attempts_per_s(std::vector{run}, 0.025).value, 202, 0.01);
}

TEST(student, agrees_with_the_tables) {
  EXPECT_NEAR(student_quantile(0.025, 1e9), 1.959964, 1e-5);
  EXPECT_NEAR(student_quantile(0.005, 29), 2.7564, 0.002);
  EXPECT_NEAR(student_quantile(0.025, 10), 2.2281, 0.002);
  EXPECT_NEAR(student_quantile(0.005, 5), 4.0321, 0.08);
}

}  // namespace
}  // namespace lockmark::capacity
