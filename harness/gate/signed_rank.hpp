// The exact Wilcoxon signed-rank statistic of paired differences: the shift, and its confidence.
//
// Walsh averages are the means of all pairs of differences, each with itself included. Their median
// is the Hodges-Lehmann estimate of the shift; the k-th smallest is its exact lower confidence
// bound, with k the quantile of the signed-rank distribution (Hollander and Wolfe, "Nonparametric
// Statistical Methods", 3.2 and 3.4; R's wilcox.test computes the same).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace lockmark::gate {

// P(V <= v) of the signed-rank statistic of n differences without ties and zeros. n <= 60.
double signed_rank_cdf(std::size_t n, std::size_t v);

// The least v with P(V <= v) >= p, for 0 < p < 1.
std::size_t signed_rank_quantile(std::size_t n, double p);

class paired_shift {
 public:
  // REQUIRES: at least one and at most 60 finite differences.
  explicit paired_shift(std::span<const double> differences);

  double hodges_lehmann() const;
  // The shift is above this with the given confidence. Minus infinity if there are too few pairs
  // for that confidence.
  double lower_bound(double confidence) const;
  // The same from above.
  double upper_bound(double confidence) const;
  // The smallest level at which "there is no upward shift" would be rejected; discrete, since there
  // are few pairs.
  double p_value_above_zero() const;

  std::size_t pairs() const { return pairs_; }

 private:
  std::size_t pairs_;
  std::vector<double> walsh_;  // sorted
};

}  // namespace lockmark::gate
