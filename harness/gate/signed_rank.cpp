#include "harness/gate/signed_rank.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockmark::gate {
namespace {

constexpr std::size_t most_pairs = 60;

// P(V = v) for v = 0 .. n (n + 1) / 2: each rank is in the sum or not, with equal probability.
std::vector<std::vector<double>> all_distributions() {
  std::vector<std::vector<double>> all{{1.0}};
  for (std::size_t rank = 1; rank <= most_pairs; ++rank) {
    const std::vector<double>& p = all.back();
    std::vector<double> next(p.size() + rank, 0.0);
    for (std::size_t v = 0; v < p.size(); ++v) {
      next[v] += p[v] / 2;
      next[v + rank] += p[v] / 2;
    }
    all.push_back(std::move(next));
  }
  return all;
}

const std::vector<double>& distribution(std::size_t n) {
  static const auto all = all_distributions();
  return all.at(n);
}

}  // namespace

double signed_rank_cdf(std::size_t n, std::size_t v) {
  const auto& p = distribution(n);
  double sum = 0;
  for (std::size_t i = 0; i < p.size() && i <= v; ++i) sum += p[i];
  return std::min(1.0, sum);
}

std::size_t signed_rank_quantile(std::size_t n, double wanted) {
  const auto& p = distribution(n);
  double sum = 0;
  for (std::size_t v = 0; v < p.size(); ++v) {
    sum += p[v];
    if (sum >= wanted) return v;
  }
  return p.size() - 1;
}

paired_shift::paired_shift(std::span<const double> differences) : pairs_(differences.size()) {
  walsh_.reserve(pairs_ * (pairs_ + 1) / 2);
  for (std::size_t i = 0; i < pairs_; ++i) {
    for (std::size_t j = i; j < pairs_; ++j) {
      walsh_.push_back((differences[i] + differences[j]) / 2);
    }
  }
  std::sort(walsh_.begin(), walsh_.end());
}

double paired_shift::hodges_lehmann() const {
  const std::size_t half = walsh_.size() / 2;
  return walsh_.size() % 2 == 1 ? walsh_[half] : (walsh_[half - 1] + walsh_[half]) / 2;
}

// The k-th smallest fails to bound the shift if fewer than k Walsh averages lie below it, which has
// probability P(V <= k - 1).
double paired_shift::lower_bound(double confidence) const {
  const std::size_t k = signed_rank_quantile(pairs_, 1 - confidence);
  if (k == 0) return -std::numeric_limits<double>::infinity();
  return walsh_[k - 1];
}

double paired_shift::upper_bound(double confidence) const {
  const std::size_t k = signed_rank_quantile(pairs_, 1 - confidence);
  if (k == 0) return std::numeric_limits<double>::infinity();
  return walsh_[walsh_.size() - k];
}

double paired_shift::p_value_above_zero() const {
  const auto above = static_cast<std::size_t>(
      std::count_if(walsh_.begin(), walsh_.end(), [](double w) { return w > 0; }));
  return above == 0 ? 1.0 : 1 - signed_rank_cdf(pairs_, above - 1);
}

}  // namespace lockmark::gate
