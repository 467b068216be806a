#include "harness/stats/confidence.hpp"

#include <cmath>

namespace lockmark::stats {
namespace {

constexpr double tail = (1 - confidence_level) / 2;

// Binomial(n, q) from its mode outward until nothing is left, normalised by its sum: exact to
// rounding for any n, without factorials. Covers tens of standard deviations, never the whole
// range.
class binomial {
 public:
  binomial(std::int64_t n, double q) {
    const auto mode = std::min(n, static_cast<std::int64_t>(static_cast<double>(n + 1) * q));
    const double odds = q / (1 - q);
    std::vector<double> below;
    double weight = 1;
    for (std::int64_t k = mode; k > 0 && weight > negligible; --k) {
      weight *= static_cast<double>(k) / (static_cast<double>(n - k + 1) * odds);
      below.push_back(weight);
    }
    first_ = mode - static_cast<std::int64_t>(below.size());
    mass_.assign(below.rbegin(), below.rend());
    mass_.push_back(1);
    weight = 1;
    for (std::int64_t k = mode; k < n && weight > negligible; ++k) {
      weight *= odds * static_cast<double>(n - k) / static_cast<double>(k + 1);
      mass_.push_back(weight);
    }
    double sum = 0;
    for (double m : mass_) sum += m;
    for (double& m : mass_) m /= sum;
  }

  // The largest k with P(X <= k - 1) <= p.
  std::int64_t low_rank(double p) const {
    double below = 0;
    std::size_t i = 0;
    while (i < mass_.size() && below + mass_[i] <= p) below += mass_[i++];
    return first_ + static_cast<std::int64_t>(i);
  }

  // The smallest k with P(X >= k) <= p; n + 1 if there is none up to n.
  std::int64_t high_rank(double p) const {
    double above = 0;
    std::size_t i = mass_.size();
    while (i > 0 && above + mass_[i - 1] <= p) above += mass_[--i];
    return first_ + static_cast<std::int64_t>(i);
  }

 private:
  static constexpr double negligible = 1e-20;
  std::int64_t first_ = 0;
  std::vector<double> mass_;
};

}  // namespace

std::int64_t samples_needed(double q) {
  // The largest (for low quantiles, the smallest) of n attempts must lie beyond the quantile with a
  // probability of 97.5 %: q^n <= 0.025.
  const double worse = std::max(q, 1 - q);
  return static_cast<std::int64_t>(std::ceil(std::log(tail) / std::log(worse) - 1e-9));
}

bool is_supported(double q, std::int64_t n) {
  return q > 0 && q < 1 && n >= samples_needed(q);
}

rank_interval order_statistic_ranks(double q, std::int64_t n) {
  const binomial below_quantile(n, q);
  return {below_quantile.low_rank(tail), below_quantile.high_rank(tail)};
}

std::optional<confidence_interval> order_statistic_interval(const attempts& all, double q) {
  if (!is_supported(q, all.count())) return std::nullopt;
  const rank_interval ranks = order_statistic_ranks(q, all.count());
  return confidence_interval{all.at_rank(ranks.low), all.at_rank(ranks.high)};
}

confidence_interval wider(const confidence_interval& a, const confidence_interval& b) {
  if (a.high.censored != b.high.censored) return a.high.censored ? a : b;
  // If both are open above, the one that reaches lower.
  if (a.high.censored && a.low.censored != b.low.censored) return a.low.censored ? b : a;
  const std::int64_t width_a = a.high.value_ns - a.low.value_ns;
  const std::int64_t width_b = b.high.value_ns - b.low.value_ns;
  return width_a >= width_b ? a : b;
}

std::vector<quantile_estimate> estimate_quantiles(const attempts& all,
                                                  const interval_bootstrap& series,
                                                  std::span<const double> quantiles,
                                                  std::uint64_t seed) {
  const auto redrawn = series.intervals(quantiles, all.latest_ns(), seed);
  std::vector<quantile_estimate> result;
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    const double q = quantiles[i];
    quantile_estimate estimate{q, all.count(), false, {}, {}};
    if (const auto exact = order_statistic_interval(all, q)) {
      estimate.supported = true;
      estimate.value = all.at_quantile(q);
      estimate.interval = redrawn[i] ? wider(*exact, *redrawn[i]) : *exact;
    }
    result.push_back(estimate);
  }
  return result;
}

}  // namespace lockmark::stats
