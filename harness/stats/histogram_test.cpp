#include "harness/stats/histogram.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "harness/stats/random.hpp"

namespace lockmark::stats {
namespace {

std::vector<std::int64_t> lognormal_values(std::uint64_t seed, int n) {
  random_source rng(seed);
  std::vector<std::int64_t> values;
  for (int i = 0; i < n; ++i) values.push_back(static_cast<std::int64_t>(rng.lognormal(13, 1.5)));
  return values;
}

histogram histogram_of(std::span<const std::int64_t> values, int digits = 3) {
  histogram h(digits);
  for (std::int64_t v : values) h.record(v);
  return h;
}

// The array lengths are those of HdrHistogram for 1 ns to 1 h.
TEST(histogram, has_the_layout_of_hdrhistogram) {
  EXPECT_EQ(histogram(3).counts().size(), 33'792u);
  EXPECT_EQ(histogram(2).counts().size(), 4'608u);
  EXPECT_EQ(histogram(1).counts().size(), 624u);
  EXPECT_EQ(histogram(4).counts().size(), 475'136u);
}

// Small values have a counter each; larger ones share a counter if they differ by less than 0.1 %.
TEST(histogram, bounds_the_relative_error) {
  const histogram h;
  for (std::int64_t v : {0, 1, 1'000, 2'047}) {
    EXPECT_EQ(h.lowest_equivalent(v), v);
    EXPECT_EQ(h.highest_equivalent(v), v);
  }
  EXPECT_EQ(h.lowest_equivalent(2'049), 2'048);
  EXPECT_EQ(h.highest_equivalent(2'048), 2'049);
  EXPECT_EQ(h.lowest_equivalent(10'000), 10'000);
  EXPECT_EQ(h.highest_equivalent(10'007), 10'007);
  for (std::int64_t v : lognormal_values(1, 10'000)) {
    EXPECT_LE(h.lowest_equivalent(v), v);
    EXPECT_GE(h.highest_equivalent(v), v);
    EXPECT_LE(h.highest_equivalent(v) - h.lowest_equivalent(v), v / 1'000);
  }
}

// Each counter's lowest value follows the highest of the counter before it, over the whole array.
TEST(histogram, leaves_no_gap_between_buckets) {
  for (int digits : {1, 2, 3}) {
    histogram h(digits);
    for (std::size_t i = 0; i < h.counts().size(); ++i) h.add_at_index(i, 1);
    std::int64_t next = 0;
    h.for_each_bucket([&](std::int64_t lowest, std::int64_t highest, std::int64_t count) {
      ASSERT_EQ(lowest, next);
      ASSERT_EQ(count, 1);
      next = highest + 1;
    });
    EXPECT_GT(next, histogram::highest_ns);
  }
}

// Quantiles are the highest value equivalent to the exact order statistic.
TEST(histogram, agrees_with_sorted_values) {
  std::vector<std::int64_t> values = lognormal_values(2, 9'999);
  const histogram h = histogram_of(values);
  std::sort(values.begin(), values.end());
  for (double q : {0.0001, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(q * 9'999));
    EXPECT_EQ(h.value_at_quantile(q), h.highest_equivalent(values[rank - 1])) << q;
  }
  EXPECT_EQ(h.value_at_quantile(0), h.lowest_equivalent(values.front()));
  EXPECT_EQ(h.min_ns(), values.front());
  EXPECT_EQ(h.max_ns(), values.back());
  EXPECT_EQ(h.count_at_or_below(values[4'999]), h.count_at_or_below(h.value_at_quantile(0.5)));
}

// Rounding in q * n never moves a quantile to the next rank.
TEST(histogram, rounds_ranks_as_hdrhistogram) {
  for (std::int64_t n : {1, 10, 100, 1'000, 100'000}) {
    for (std::int64_t k = 1; k <= std::min<std::int64_t>(n, 1'000); ++k) {
      const double q = static_cast<double>(k) / static_cast<double>(n);
      EXPECT_EQ(histogram::rank_of_quantile(q, n), k) << n;
    }
  }
  EXPECT_EQ(histogram::rank_of_quantile(0.5, 3), 2);
  EXPECT_EQ(histogram::rank_of_quantile(0.0, 3), 1);
}

// Mean and sum are exact, not those of the buckets, also beyond 2^63 ns.
TEST(histogram, keeps_the_exact_sum) {
  histogram h;
  h.record(1'000'001, 3);
  h.record(2'000'003);
  EXPECT_DOUBLE_EQ(h.mean_ns(), (3 * 1'000'001.0 + 2'000'003.0) / 4);
  h.record(histogram::highest_ns, 10'000'000);
  EXPECT_EQ(h.sum_ns(), __int128{histogram::highest_ns} * 10'000'000 + 5'000'006);
}

// Values outside the range are counted at its ends, and reported as clamped.
TEST(histogram, clamps_and_counts_values_out_of_range) {
  histogram h;
  h.record(-5);
  h.record(histogram::highest_ns);
  h.record(histogram::highest_ns + 1, 2);
  EXPECT_EQ(h.count(), 4);
  EXPECT_EQ(h.clamped_low(), 1);
  EXPECT_EQ(h.clamped_high(), 2);
  EXPECT_EQ(h.min_ns(), 0);
  EXPECT_EQ(h.max_ns(), histogram::highest_ns);
}

// An empty histogram reads as zeros; so does one after reset.
TEST(histogram, is_empty_at_first_and_after_reset) {
  histogram h;
  h.record(7, 0);
  EXPECT_TRUE(h.empty());
  EXPECT_EQ(h.value_at_quantile(0.5), 0);
  EXPECT_EQ(h.min_ns(), 0);
  EXPECT_EQ(h.mean_ns(), 0);
  h = histogram_of(lognormal_values(3, 1'000));
  h.record(-1);
  h.reset();
  EXPECT_EQ(h, histogram());
}

// R7: any order and grouping of merges gives the same histogram, bit for bit.
TEST(histogram, merges_alike_in_any_order) {
  const histogram a = histogram_of(lognormal_values(4, 1'000));
  const histogram b = histogram_of(lognormal_values(5, 2'000));
  histogram c = histogram_of(lognormal_values(6, 3'000));
  c.record(histogram::highest_ns + 1);
  histogram ab_c = a, bc = b, cba = c;
  ab_c.merge(b);
  ab_c.merge(c);
  bc.merge(c);
  histogram a_bc = a;
  a_bc.merge(bc);
  cba.merge(b);
  cba.merge(a);
  cba.merge(histogram());
  EXPECT_EQ(ab_c, a_bc);
  EXPECT_EQ(ab_c, cba);
  EXPECT_EQ(ab_c.count(), 6'001);
}

// Merging gives the same as recording everything in one place.
TEST(histogram, merges_as_if_recorded_together) {
  std::vector<std::int64_t> values = lognormal_values(7, 2'000);
  const std::span<const std::int64_t> all = values;
  histogram merged = histogram_of(all.first(700));
  merged.merge(histogram_of(all.subspan(700)));
  EXPECT_EQ(merged, histogram_of(all));
}

// Histograms with different layouts are not merged silently.
TEST(histogram, refuses_unlike_layouts) {
  histogram h(3);
  EXPECT_THROW(h.merge(histogram(2)), std::invalid_argument);
  EXPECT_THROW(histogram(0), std::invalid_argument);
  EXPECT_THROW(histogram(5), std::invalid_argument);
  EXPECT_THROW(h.add_at_index(h.counts().size(), 1), std::invalid_argument);
}

}  // namespace
}  // namespace lockmark::stats
