#include "harness/stats/confidence.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/stats/random.hpp"

namespace lockmark::stats {
namespace {

constexpr std::int64_t timeout_ns = 1'000'000'000;

// `n` values: 1 us, 2 us, ...
histogram ramp(int n) {
  histogram h;
  for (int i = 1; i <= n; ++i) h.record(i * 1'000);
  return h;
}

// R4: with 5 % time-outs p99 is only known to exceed the time-out; p90 is a number.
TEST(censored, quantiles_are_over_all_attempts) {
  const histogram granted = ramp(950);
  const attempts all{granted, 50, timeout_ns};
  EXPECT_EQ(all.count(), 1'000);
  EXPECT_EQ(all.at_quantile(0.99), (quantile_ns{timeout_ns, true}));
  EXPECT_EQ(all.at_quantile(0.9), (quantile_ns{granted.highest_equivalent(900'000), false}));
  // Exactly 1 - q without a grant is not more than 1 - q.
  EXPECT_FALSE(all.at_quantile(0.95).censored);
  EXPECT_TRUE(all.at_quantile(0.9501).censored);
}

// Without any grant everything is censored; without any attempt the value is 0.
TEST(censored, knows_its_extremes) {
  const histogram none;
  EXPECT_EQ((attempts{none, 7, timeout_ns}.at_quantile(0.5)), (quantile_ns{timeout_ns, true}));
  EXPECT_EQ((attempts{none, 0, timeout_ns}.at_quantile(0.5)), (quantile_ns{0, false}));
}

// Grants that waited for a free client first take longer than T. A quantile among those that were
// never granted still lies above them: none is smaller than one before it.
TEST(censored, never_reads_below_a_smaller_quantile) {
  histogram granted;
  granted.record(timeout_ns / 2, 400);
  granted.record(7 * timeout_ns, 500);
  const attempts all{granted, 100, timeout_ns};
  quantile_ns last = all.at_rank(1);
  for (std::int64_t rank = 2; rank <= all.count(); ++rank) {
    const quantile_ns next = all.at_rank(rank);
    EXPECT_LE(last.value_ns, next.value_ns) << rank;
    EXPECT_LE(last.censored, next.censored) << rank;
    last = next;
  }
  EXPECT_EQ(all.at_quantile(0.99), (quantile_ns{granted.highest_equivalent(7 * timeout_ns), true}));
  interval_bootstrap series;
  for (int i = 0; i < 20; ++i) series.add(granted, 100);
  const std::vector<double> quantiles{0.5, 0.99};
  const auto estimates = estimate_quantiles(all, series, quantiles, 1);
  EXPECT_TRUE(estimates[1].interval.high.censored);
  EXPECT_GE(estimates[1].interval.high.value_ns, estimates[0].interval.high.value_ns);
}

// Where both lie in one bucket of the histogram, T is the more exact.
TEST(censored, exceeds_t_as_it_was_given) {
  histogram granted;
  granted.record(150'000'000, 10);
  EXPECT_EQ((attempts{granted, 10, 149'999'999}.at_quantile(0.9)),
            (quantile_ns{149'999'999, true}));
}

// R15: the sample sizes below which a quantile is not printed.
TEST(confidence, supports_what_the_sample_bounds) {
  EXPECT_EQ(samples_needed(0.99), 368);
  EXPECT_EQ(samples_needed(0.999), 3'688);
  EXPECT_EQ(samples_needed(0.9999), 36'887);
  EXPECT_EQ(samples_needed(0.5), 6);
  EXPECT_EQ(samples_needed(0.01), samples_needed(0.99));
  EXPECT_FALSE(is_supported(0.999, 2'000));
  EXPECT_FALSE(is_supported(0.99, 367));
  EXPECT_TRUE(is_supported(0.99, 368));
  EXPECT_FALSE(is_supported(1.0, 1'000'000));
}

// Both rules agree: the high rank exists exactly if the quantile is supported.
TEST(confidence, ranks_end_where_support_ends) {
  for (double q : {0.5, 0.9, 0.99, 0.999}) {
    const std::int64_t n = samples_needed(q);
    EXPECT_EQ(order_statistic_ranks(q, n).high, n) << q;
    EXPECT_EQ(order_statistic_ranks(q, n - 1).high, n) << q;  // one more than the sample size
  }
}

// The textbook interval of the median of 20, and the normal approximation where it is good.
TEST(confidence, ranks_are_those_of_the_binomial) {
  const rank_interval median = order_statistic_ranks(0.5, 20);
  EXPECT_EQ(median.low, 6);
  EXPECT_EQ(median.high, 15);
  const double n = 10'000'000;
  const rank_interval many = order_statistic_ranks(0.9, 10'000'000);
  const double half_width = 1.959964 * std::sqrt(n * 0.9 * 0.1);
  EXPECT_NEAR(static_cast<double>(many.low), n * 0.9 - half_width, 2);
  EXPECT_NEAR(static_cast<double>(many.high), n * 0.9 + half_width + 1, 2);
}

// The wider interval, especially with open ends.
TEST(confidence, the_wider_interval_is_chosen) {
  const confidence_interval narrow{{10, false}, {20, false}}, wide{{5, false}, {20, false}};
  const confidence_interval open{{15, false}, {timeout_ns, true}};
  const confidence_interval closed_low{{timeout_ns, true}, {timeout_ns, true}};
  EXPECT_EQ(wider(narrow, wide), wide);
  EXPECT_EQ(wider(wide, narrow), wide);
  EXPECT_EQ(wider(open, wide), open);
  EXPECT_EQ(wider(wide, open), open);
  EXPECT_EQ(wider(closed_low, open), open);
}

// The same seed gives the same interval; too few intervals give none.
TEST(bootstrap, is_deterministic_and_needs_two_blocks) {
  random_source latencies(1);
  interval_bootstrap series;
  const double q = 0.9;
  for (int r = 0; r < 20; ++r) {
    EXPECT_EQ(r >= 10, series.intervals(std::span(&q, 1), 0, 1).front().has_value());
    histogram interval;
    for (int i = 0; i < 50; ++i) {
      interval.record(static_cast<std::int64_t>(1e6 * std::exp(0.5 * latencies.normal())));
    }
    series.add(interval, 0);
  }
  const auto first = series.intervals(std::span(&q, 1), 0, 1);
  ASSERT_TRUE(first.front());
  EXPECT_EQ(first, series.intervals(std::span(&q, 1), 0, 1));
  // With few resamples chance shows; with many, any seed finds the same buckets.
  EXPECT_NE(series.intervals(std::span(&q, 1), 0, 1, 10),
            series.intervals(std::span(&q, 1), 0, 2, 10));
  EXPECT_LT(first.front()->low.value_ns, first.front()->high.value_ns);
}

// Time-outs in a few intervals leave the upper end open, and the lower one a number.
TEST(bootstrap, carries_censored_attempts) {
  interval_bootstrap series;
  histogram total;
  for (int r = 0; r < 20; ++r) {
    histogram interval = ramp(1'000);
    total.merge(interval);
    series.add(interval, r >= 10 && r < 15 ? 35 : 0);
  }
  const double quantiles[] = {0.5, 0.99};
  const auto estimates = estimate_quantiles({total, 5 * 35, timeout_ns}, series, quantiles, 1);
  EXPECT_FALSE(estimates[0].interval.high.censored);
  EXPECT_FALSE(estimates[1].value.censored);
  EXPECT_EQ(estimates[1].interval.high, (quantile_ns{timeout_ns, true}));
  EXPECT_FALSE(estimates[1].interval.low.censored);
}

// Intervals without any attempt, and runs without any, do no harm.
TEST(bootstrap, bears_empty_intervals) {
  interval_bootstrap series;
  const double q = 0.5;
  for (int r = 0; r < 20; ++r) series.add(histogram(), 0);
  EXPECT_FALSE(series.intervals(std::span(&q, 1), 0, 1).front());
  for (int r = 0; r < 20; ++r) series.add(ramp(10), 0);
  EXPECT_TRUE(series.intervals(std::span(&q, 1), 0, 1).front());
}

// A run longer than the rows kept is condensed, and keeps every attempt.
TEST(bootstrap, combines_the_intervals_of_long_runs) {
  interval_bootstrap series;
  histogram interval;
  interval.record(1'000);
  for (int r = 0; r < 3'600; ++r) series.add(interval, 1);
  const double quantiles[] = {0.4, 0.6};
  const auto found = series.intervals(quantiles, timeout_ns, 1, 50);
  EXPECT_EQ(found[0]->low, (quantile_ns{1'000, false}));
  EXPECT_EQ(found[1]->high, (quantile_ns{timeout_ns, true}));
}

// Quantiles that the sample does not support are not estimated.
TEST(confidence, estimates_only_what_is_supported) {
  const histogram granted = ramp(2'000);
  const double quantiles[] = {0.5, 0.99, 0.999};
  const auto estimates =
      estimate_quantiles({granted, 0, timeout_ns}, interval_bootstrap(), quantiles, 1);
  EXPECT_TRUE(estimates[0].supported);
  EXPECT_TRUE(estimates[1].supported);
  EXPECT_FALSE(estimates[2].supported);
  EXPECT_EQ(estimates[1].n, 2'000);
  EXPECT_LT(estimates[1].interval.low.value_ns, 1'980'000);
  EXPECT_GT(estimates[1].interval.high.value_ns, 1'980'000);
}

// The contents of the rows, which other code needs for its own bounds.
TEST(confidence, tells_what_each_stretch_of_a_series_held) {
  interval_bootstrap series;
  for (int i = 0; i < 3; ++i) series.add(ramp(100), i);
  const auto sums = series.row_sums(90'100, 1'000'000);
  ASSERT_EQ(sums.size(), 3U);
  EXPECT_EQ(sums[2].attempts, 102);
  EXPECT_EQ(sums[2].late, 12);
  EXPECT_NEAR(sums[2].sum_ns, 5'050'000 + 2 * 1'000'000, 5'000);
  EXPECT_EQ(series.intervals_per_row(), 1);
  // Beyond the most rows, two intervals become one row, and an incomplete row is left out.
  for (int i = 3; i < 242; ++i) series.add(ramp(1), 0);
  EXPECT_EQ(series.intervals_per_row(), 2);
  EXPECT_EQ(series.row_sums(1, 1).size(), 121U);
  series.add(ramp(1), 0);
  EXPECT_EQ(series.row_sums(1, 1).size(), 121U);
}

}  // namespace
}  // namespace lockmark::stats
