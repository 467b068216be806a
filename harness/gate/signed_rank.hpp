// The Wilcoxon signed-rank statistic of paired differences, exactly: what is the shift, and how
// sure is it?
//
// Walsh averages are the means of all pairs of differences, each with itself included. Their median
// is the Hodges-Lehmann estimate of the shift; the k-th smallest is its exact lower confidence
// bound, k being the quantile of the signed-rank distribution (Hollander and Wolfe, "Nonparametric
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
  // The shift is above this with the given confidence, or not known to be: minus infinity where so
  // few pairs cannot give that confidence.
  double lower_bound(double confidence) const;
  // The same from the other side.
  double upper_bound(double confidence) const;
  // The least level at which "there is no shift upwards" would be rejected; in steps, as there are
  // only so many pairs.
  double p_value_above_zero() const;

  std::size_t pairs() const { return pairs_; }

 private:
  std::size_t pairs_;
  std::vector<double> walsh_;  // sorted
};

}  // namespace lockmark::gate
