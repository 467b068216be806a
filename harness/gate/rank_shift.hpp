// The shift between two sides and its confidence, by ranks: exact for noise of any distribution.
//
// Pairs: the Wilcoxon signed-rank statistic. Its points are the Walsh averages, the means of all
// pairs of differences, each with itself included. Two independent samples: the Wilcoxon rank-sum
// (Mann-Whitney) statistic. Its points are the differences between every value of one sample and
// every value of the other.
//
// The median of the points is the Hodges-Lehmann estimate of the shift; the k-th smallest is its
// exact lower confidence bound, with k the quantile of the statistic's distribution (Hollander and
// Wolfe, "Nonparametric Statistical Methods", 3.2, 3.4, 4.2 and 4.4; R's wilcox.test computes the
// same).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace lockmark::gate {

inline constexpr std::size_t most_ranked = 60;

// P(V <= v) of the signed-rank statistic of n differences without ties and zeros. n <= 60.
double signed_rank_cdf(std::size_t n, std::size_t v);

// P(W <= w) of the Mann-Whitney statistic of samples of m and n values without ties; both from 1 to
// 60.
double rank_sum_cdf(std::size_t m, std::size_t n, std::size_t w);

class rank_shift {
 public:
  // REQUIRES: at least one and at most 60 finite differences.
  static rank_shift of_pairs(std::span<const double> differences);
  // How far `to` lies above `from`. REQUIRES: each has at least one and at most 60 finite values.
  static rank_shift of_samples(std::span<const double> from, std::span<const double> to);

  double hodges_lehmann() const;
  // The shift is above this with the given confidence. Minus infinity if there are too few values
  // for that confidence.
  double lower_bound(double confidence) const;
  // The same from above.
  double upper_bound(double confidence) const;
  // The smallest level at which "there is no upward shift" would be rejected; discrete, since there
  // are few values.
  double p_value_above_zero() const;

 private:
  rank_shift(std::vector<double> points, std::vector<double> chances);
  std::size_t quantile(double p) const;

  std::vector<double> points_;   // sorted
  std::vector<double> chances_;  // of 0, 1, 2 ... points below the true shift
};

}  // namespace lockmark::gate
