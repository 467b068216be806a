#include "harness/gate/rank_shift.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace lockmark::gate {
namespace {

// P(V = v) for up to 60 differences: each rank counts with probability one half.
std::vector<std::vector<double>> all_signed_rank_chances() {
  std::vector<std::vector<double>> all{{1.0}};
  for (std::size_t rank = 1; rank <= most_ranked; ++rank) {
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

const std::vector<double>& signed_rank_chances(std::size_t n) {
  static const auto all = all_signed_rank_chances();
  return all.at(n);
}

// P(W = w): every choice of m of the m + n ranks is equally likely. `ways[k][w]` counts the choices
// of k ranks whose sum is w above the least that k ranks can have.
std::vector<double> rank_sum_chances(std::size_t m, std::size_t n) {
  const std::size_t chosen = std::min(m, n), others = std::max(m, n);
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(chosen * others + 1, 0.0));
  ways[0][0] = 1;
  for (std::size_t rank = 1; rank <= m + n; ++rank) {
    for (std::size_t k = std::min(rank, chosen); k >= 1; --k) {
      // As the k-th of the chosen in ascending order it adds its excess over k.
      const std::size_t excess = rank - k;
      for (std::size_t w = excess; w < ways[k].size(); ++w) ways[k][w] += ways[k - 1][w - excess];
    }
  }
  std::vector<double> p = std::move(ways[chosen]);
  const double all = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& one : p) one /= all;
  return p;
}

double sum_to(const std::vector<double>& p, std::size_t last) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size() && i <= last; ++i) sum += p[i];
  return std::min(1.0, sum);
}

}  // namespace

double signed_rank_cdf(std::size_t n, std::size_t v) {
  return sum_to(signed_rank_chances(n), v);
}

double rank_sum_cdf(std::size_t m, std::size_t n, std::size_t w) {
  return sum_to(rank_sum_chances(m, n), w);
}

rank_shift::rank_shift(std::vector<double> points, std::vector<double> chances)
    : points_(std::move(points)), chances_(std::move(chances)) {
  std::ranges::sort(points_);
}

rank_shift rank_shift::of_pairs(std::span<const double> differences) {
  std::vector<double> walsh;
  walsh.reserve(differences.size() * (differences.size() + 1) / 2);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    for (std::size_t j = i; j < differences.size(); ++j) {
      walsh.push_back((differences[i] + differences[j]) / 2);
    }
  }
  return {std::move(walsh), signed_rank_chances(differences.size())};
}

rank_shift rank_shift::of_samples(std::span<const double> from, std::span<const double> to) {
  std::vector<double> between;
  between.reserve(from.size() * to.size());
  for (const double a : from) {
    for (const double b : to) between.push_back(b - a);
  }
  return {std::move(between), rank_sum_chances(from.size(), to.size())};
}

// The least v with P(V <= v) >= p.
std::size_t rank_shift::quantile(double p) const {
  double sum = 0;
  for (std::size_t v = 0; v < chances_.size(); ++v) {
    sum += chances_[v];
    if (sum >= p) return v;
  }
  return chances_.size() - 1;
}

double rank_shift::hodges_lehmann() const {
  const std::size_t half = points_.size() / 2;
  return points_.size() % 2 == 1 ? points_[half] : (points_[half - 1] + points_[half]) / 2;
}

// The k-th smallest fails to bound the shift if fewer than k points lie below it, which has
// probability P(V <= k - 1).
double rank_shift::lower_bound(double confidence) const {
  const std::size_t k = quantile(1 - confidence);
  if (k == 0) return -std::numeric_limits<double>::infinity();
  return points_[k - 1];
}

double rank_shift::upper_bound(double confidence) const {
  const std::size_t k = quantile(1 - confidence);
  if (k == 0) return std::numeric_limits<double>::infinity();
  return points_[points_.size() - k];
}

// P(V >= above), by the symmetry of V.
double rank_shift::p_value_above_zero() const {
  const auto not_above = static_cast<std::size_t>(
      std::ranges::count_if(points_, [](double point) { return point <= 0; }));
  return sum_to(chances_, not_above);
}

}  // namespace lockmark::gate
