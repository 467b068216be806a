// The accuracy of quantiles: which ones a sample supports, and their 95 % intervals.
//
// Two intervals are computed, and the wider is printed. The order-statistic interval is exact for
// independent attempts. Attempts are not independent (a slow second slows all of its attempts), so
// the second is a moving-block bootstrap over intervals of time (Kunsch, 1989): whole stretches of
// five intervals are redrawn, preserving the correlation of their attempts. Its ends are moved
// outward to allow for the small number of such stretches; without that, 30 intervals covered 87 %
// instead of 95 %.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/stats/censored.hpp"

namespace lockmark::stats {

constexpr double confidence_level = 0.95;

// Whether a 95 % interval of quantile q of (0, 1) from n attempts is finite at both ends; otherwise
// the quantile must not be printed. p99 needs 368, p99.9 3,688, p99.99 36,887.
bool is_supported(double q, std::int64_t n);
std::int64_t samples_needed(double q);

// The ranks of the two attempts between which quantile q lies with 95 % confidence, by the binomial
// distribution. A low of 0 or a high of n + 1 means that no attempt bounds that end.
struct rank_interval {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
rank_interval order_statistic_ranks(double q, std::int64_t n);

// A censored end is a lower bound of that end.
struct confidence_interval {
  quantile_ns low;
  quantile_ns high;

  bool operator==(const confidence_interval&) const = default;
};

// By order statistics. std::nullopt if q is not supported.
std::optional<confidence_interval> order_statistic_interval(const attempts& all, double q);

// The wider of the two; a censored high end is wider than an uncensored one.
confidence_interval wider(const confidence_interval& a, const confidence_interval& b);

// The moving-block bootstrap. Intervals are copied sparsely as they come, and combined in pairs
// when there are more than 240, so that memory and time stay bounded for runs of any length.
class interval_bootstrap {
 public:
  static constexpr std::size_t block = 5;
  static constexpr std::size_t most_rows = 240;

  // Adds the next interval of time, of the same length as the others. All must have the same
  // digits.
  void add(const histogram& granted, std::int64_t censored);

  // `limit_ns`: what a censored end exceeds. For each q its interval from `resamples` draws, which
  // depend on `seed` alone. std::nullopt with fewer than two blocks of intervals, or without
  // attempts.
  std::vector<std::optional<confidence_interval>> intervals(std::span<const double> quantiles,
                                                            std::int64_t limit_ns,
                                                            std::uint64_t seed,
                                                            int resamples = 1'000) const;

  // The contents of each row of intervals, in order of time; without an incomplete last row.
  // `late`: later than `late_after_ns`, including censored ones, which count as `censored_ns` long.
  struct row_sum {
    std::int64_t attempts = 0;
    std::int64_t late = 0;
    double sum_ns = 0;
  };
  std::vector<row_sum> row_sums(std::int64_t late_after_ns, std::int64_t censored_ns) const;
  std::int64_t intervals_per_row() const { return intervals_per_row_; }

 private:
  struct cell {
    std::int64_t value_ns;  // the highest value of its bucket
    std::int64_t count;
  };
  struct row {
    std::vector<cell> cells;  // ascending
    std::int64_t censored = 0;
  };
  static row combine(const row& a, const row& b);
  void halve();

  std::vector<row> rows_;
  std::int64_t intervals_per_row_ = 1;
  std::int64_t intervals_in_last_ = 0;

  friend class block_sums;
};

// The printed values for one quantile.
struct quantile_estimate {
  double q = 0;
  std::int64_t n = 0;
  bool supported = false;  // if false, neither value nor interval may be printed
  quantile_ns value;
  confidence_interval interval;  // the wider of the two
};

std::vector<quantile_estimate> estimate_quantiles(const attempts& all,
                                                  const interval_bootstrap& series,
                                                  std::span<const double> quantiles,
                                                  std::uint64_t seed);

}  // namespace lockmark::stats
