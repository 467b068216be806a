// Whether a series drifts: a trend test for the measured window, and the rule that ends warm-up.
//
// Series are values per interval of equal length, such as throughput or p50 per second. A run is
// flagged only if its trend is significant (Mann-Kendall, alpha 0.01) and large, both per minute
// (Theil-Sen slope of at least 2 %) and over the run (its ends differ by at least 5 %): long runs
// make every trend significant, short ones make every slope large.
#pragma once

#include <cstddef>
#include <span>

namespace lockmark::stats {

struct trend {
  double p_value = 1;                // of the two-sided Mann-Kendall test, corrected for ties
  double slope_percent_per_min = 0;  // Theil-Sen, in percent of the series' median
  // The medians of the first and the last fifth of the series, of three values or more where there
  // are so many: values that occurred, unlike the ends of a line through a curve.
  double first = 0;
  double last = 0;
  bool significant = false;
  bool non_stationary = false;
};

constexpr double trend_alpha = 0.01;
constexpr double largest_slope_percent_per_min = 2.0;
// Of the smaller end. The gate tolerates as much of p50.
constexpr double largest_change = 0.05;

// `series` holds finite values, one per `interval_s` > 0 seconds. Fewer than four values, or a
// median of zero, show no trend. Series of more than 600 values are averaged in groups first, so
// that the cost (all pairs of values) is bounded.
trend find_trend(std::span<const double> series, double interval_s);

// The rule that ends warm-up, evaluated after every interval: over the last `window` values, a
// straight line changes by at most `tolerance` of their mean, or by no more than its own noise (two
// standard errors). The caller sets the shortest and longest time. `window` >= 3.
bool warmup_ended(std::span<const double> series, std::size_t window = 5, double tolerance = 0.05);

}  // namespace lockmark::stats
