#include "harness/stats/stationarity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "harness/stats/random.hpp"

namespace lockmark::stats {
namespace {

// Per-second values around 1,000 with a noise of 3 % and a drift in percent a minute.
std::vector<double> noisy_series(std::uint64_t seed, int seconds, double drift_percent) {
  random_source rng(seed);
  std::vector<double> series;
  for (int i = 0; i < seconds; ++i) {
    series.push_back(1'000 * (1 + drift_percent / 100 * i / 60) * (1 + 0.03 * rng.normal()));
  }
  return series;
}

int flagged_in(int runs, int seconds, double drift_percent) {
  int flagged = 0;
  for (int run = 0; run < runs; ++run) {
    const auto series = noisy_series(static_cast<std::uint64_t>(run), seconds, drift_percent);
    flagged += find_trend(series, 1).non_stationary ? 1 : 0;
  }
  return flagged;
}

// R16: white noise is flagged in at most 2 % of runs, short or long.
TEST(stationarity, does_not_flag_noise) {
  EXPECT_LE(flagged_in(500, 15, 0), 10);
  EXPECT_LE(flagged_in(500, 60, 0), 10);
  EXPECT_LE(flagged_in(100, 180, 0), 2);
}

// R16: a drift of 5 % a minute is flagged, in either direction.
TEST(stationarity, flags_drift) {
  EXPECT_GE(flagged_in(200, 120, 5), 199);
  EXPECT_GE(flagged_in(200, 120, -5), 199);
  EXPECT_NEAR(find_trend(noisy_series(1, 180, 5), 1).slope_percent_per_min, 5, 1);
}

// A drift that is certain but small is no reason to doubt a run.
TEST(stationarity, does_not_flag_what_is_small) {
  const trend found = find_trend(noisy_series(1, 600, 1), 1);
  EXPECT_TRUE(found.significant);
  EXPECT_FALSE(found.non_stationary);
}

// A curve that falls fast and then stays, as while a JVM warms up. The slope of a line through it,
// extrapolated, would fall below zero; the ends are values that occurred.
TEST(stationarity, tells_from_where_to_where_a_series_went) {
  std::vector<double> falling;
  for (int i = 0; i < 10; ++i) falling.push_back(900 + 1'200 * std::exp(-i / 2.0));
  const trend found = find_trend(falling, 0.5);
  EXPECT_TRUE(found.non_stationary);
  EXPECT_LT(found.slope_percent_per_min, -100) << "what it was said to have changed by";
  EXPECT_EQ(found.first, falling[1]);
  EXPECT_EQ(found.last, falling[8]);
  std::vector<double> rising(falling.rbegin(), falling.rend());
  EXPECT_EQ(find_trend(rising, 0.5).first, falling[8]);
  EXPECT_EQ(find_trend(rising, 0.5).last, falling[1]);
}

// One outlier at an end moves it nowhere.
TEST(stationarity, does_not_take_an_outlier_for_an_end) {
  std::vector<double> series;
  for (int i = 0; i < 30; ++i) series.push_back(1'000 + 10 * i);
  series.front() = 9'000;
  EXPECT_EQ(find_trend(series, 1).first, 1'030);
  EXPECT_EQ(find_trend(series, 1).last, 1'260);
}

// Ten values that rise by 3 % over five seconds are a trend of 36 % a minute, and of no matter.
TEST(stationarity, does_not_extrapolate_the_change_of_a_short_run) {
  std::vector<double> series;
  for (int i = 0; i < 10; ++i) series.push_back(1'000 + 3 * i);
  const trend found = find_trend(series, 0.5);
  EXPECT_TRUE(found.significant);
  EXPECT_GT(found.slope_percent_per_min, 30);
  EXPECT_FALSE(found.non_stationary);
}

// Hand-computed: S = 8 of 10 pairs, variance 50/3, z = 7 / 4.082.
TEST(stationarity, is_the_test_of_mann_and_kendall) {
  const std::vector<double> series = {1, 2, 4, 3, 5};
  const trend found = find_trend(series, 60);
  EXPECT_NEAR(found.p_value, 0.0864, 0.0002);
  EXPECT_NEAR(found.slope_percent_per_min, 100.0 * 1.0 / 3, 1e-9);
}

// Equal values are no trend; the variance accounts for ties; few values or none give no verdict.
TEST(stationarity, bears_ties_and_short_series) {
  EXPECT_EQ(find_trend(std::vector<double>(50, 7.0), 1).p_value, 1);
  EXPECT_EQ(find_trend(std::vector<double>(50, 0.0), 1).p_value, 1);
  EXPECT_EQ(find_trend({}, 1).p_value, 1);
  EXPECT_EQ(find_trend(std::vector<double>{1, 2, 3}, 1).p_value, 1);
  std::vector<double> step(40, 1.0);
  std::fill(step.begin() + 20, step.end(), 2.0);
  EXPECT_LT(find_trend(step, 1).p_value, 1e-6);
}

// The length of the interval only scales the slope; long series keep their slope when averaged.
TEST(stationarity, scales_with_the_interval) {
  const auto series = noisy_series(3, 120, 5);
  EXPECT_NEAR(find_trend(series, 0.5).slope_percent_per_min,
              2 * find_trend(series, 1).slope_percent_per_min, 1e-9);
  EXPECT_NEAR(find_trend(noisy_series(3, 3'600, 1), 1).slope_percent_per_min, 1.0 / 1.3, 0.02);
}

// A start that settles: warm-up does not end in the steep part, but soon after.
TEST(warmup, ends_when_the_start_has_settled) {
  std::vector<double> series;
  int ended_at = -1;
  for (int i = 0; i < 30; ++i) {
    series.push_back(100 + 900 * std::exp(-i / 3.0));
    if (ended_at < 0 && warmup_ended(series)) ended_at = i;
  }
  EXPECT_GE(ended_at, 12);
  EXPECT_LE(ended_at, 22);
}

// Noise alone does not prolong warm-up.
TEST(warmup, ends_in_spite_of_noise) {
  random_source rng(2);
  int ended = 0;
  for (int run = 0; run < 300; ++run) {
    std::vector<double> series;
    for (int i = 0; i < 5; ++i) series.push_back(1'000 * (1 + 0.3 * rng.normal()));
    ended += warmup_ended(series) ? 1 : 0;
  }
  EXPECT_GE(ended, 240);
}

// Too few values give no decision.
TEST(warmup, needs_a_whole_window) {
  EXPECT_FALSE(warmup_ended(std::vector<double>(4, 1.0)));
  EXPECT_TRUE(warmup_ended(std::vector<double>(5, 1.0)));
  EXPECT_FALSE(warmup_ended(std::vector<double>{1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace lockmark::stats
