#include "harness/capacity/usl.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "harness/stats/random.hpp"

namespace lockmark::capacity {
namespace {

constexpr int resamples = 1000;
constexpr double beyond_the_range = 1.25;
constexpr double widest_peak = 2;

using terms = std::array<double, 3>;

// Least squares over the terms in use; the others are zero. Gauss without pivoting is enough for
// normal equations, which are positive definite.
std::optional<terms> solve(std::span<const throughput> points, const std::array<bool, 3>& used) {
  double m[3][4] = {};
  for (const throughput& p : points) {
    const double weight = p.per_s / p.clients;  // of an error of N / X
    const double n = p.clients;
    const terms x = {weight, weight * (n - 1), weight * n * (n - 1)};
    for (std::size_t i = 0; i < 3; ++i) {
      if (!used[i]) continue;
      for (std::size_t k = 0; k < 3; ++k) m[i][k] += used[k] ? x[i] * x[k] : 0;
      m[i][3] += x[i];  // of weight * N / X = 1
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (!used[i]) m[i][i] = 1;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (std::abs(m[i][i]) < 1e-12) return std::nullopt;
    for (std::size_t k = i + 1; k < 3; ++k) {
      const double factor = m[k][i] / m[i][i];
      for (std::size_t c = i; c < 4; ++c) m[k][c] -= factor * m[i][c];
    }
  }
  terms t{};
  for (std::size_t i = 3; i-- > 0;) {
    t[i] = m[i][3];
    for (std::size_t k = i + 1; k < 3; ++k) t[i] -= m[i][k] * t[k];
    t[i] /= m[i][i];
  }
  return t;
}

using repeats = std::map<double, std::vector<double>>;  // throughputs by number of clients

std::vector<throughput> draw(const repeats& all, stats::random_source& random) {
  std::vector<throughput> points;
  for (const auto& [clients, rates] : all) {
    for (std::size_t i = 0; i < rates.size(); ++i) {
      points.push_back({clients, rates[random.below(rates.size())]});
    }
  }
  return points;
}

std::pair<double, double> middle_95(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  return {at(0.025), at(0.975)};
}

void add_residuals(const repeats& all, usl_finding& f) {
  for (const auto& [clients, rates] : all) {
    double mean = 0;
    for (const double rate : rates) mean += rate / static_cast<double>(rates.size());
    f.worst_residual = std::max(f.worst_residual, std::abs(mean / f.fit->at(clients) - 1));
  }
}

// Few repeats understate the error of their mean: resampling r of them shows (r - 1) / r of it.
void add_intervals(const repeats& all, std::size_t least, std::uint64_t seed, usl_finding& f) {
  stats::random_source random(seed);
  std::vector<double> contention, coherence, peaks;
  for (int i = 0; i < resamples; ++i) {
    const auto fit = fit_usl(draw(all, random));
    if (!fit) continue;
    contention.push_back(fit->contention);
    coherence.push_back(fit->coherence);
    peaks.push_back(fit->peak_clients().value_or(HUGE_VAL));
  }
  if (contention.empty()) return;
  const double wider = std::sqrt(static_cast<double>(least) / static_cast<double>(least - 1));
  std::tie(f.contention_low, f.contention_high) = middle_95(contention);
  std::tie(f.coherence_low, f.coherence_high) = middle_95(coherence);
  const auto peak = f.fit->peak_clients();
  if (!peak) return;
  auto [low, high] = middle_95(peaks);
  low = *peak * std::pow(low / *peak, wider);
  high = *peak * std::pow(high / *peak, wider);
  if (*peak <= beyond_the_range * all.rbegin()->first && high / low < widest_peak) {
    f.found = usl_finding::peak{*peak, low, high};
  }
}

}  // namespace

double usl::at(double n) const {
  return each_per_s * n / (1 + contention * (n - 1) + coherence * n * (n - 1));
}

std::optional<double> usl::peak_clients() const {
  if (coherence <= 0) return std::nullopt;
  return std::sqrt((1 - contention) / coherence);
}

std::optional<usl> fit_usl(std::span<const throughput> points) {
  std::array<bool, 3> used = {true, true, true};
  for (;;) {
    const auto t = solve(points, used);
    if (!t || (*t)[0] <= 0) return std::nullopt;
    const double contention = (*t)[1] / (*t)[0];
    const double coherence = (*t)[2] / (*t)[0];
    if (contention >= 0 && coherence >= 0) {
      return usl{std::min(1.0, contention), coherence, 1 / (*t)[0]};
    }
    used[contention < 0 ? 1 : 2] = false;
  }
}

usl_finding find_usl(std::span<const throughput> points, std::uint64_t seed) {
  repeats all;
  for (const throughput& p : points) {
    if (p.per_s > 0) all[p.clients].push_back(p.per_s);
  }
  usl_finding f;
  if (all.empty()) {
    f.says = "no throughput was measured";
    return f;
  }
  std::size_t least = SIZE_MAX;
  for (const auto& [clients, rates] : all) least = std::min(least, rates.size());
  const std::string nothing =
      fmt::format("no peak observed up to {:g} clients", all.rbegin()->first);
  if (all.size() < usl_finding::least_counts || least < usl_finding::least_repeats) {
    f.says = fmt::format(
        "{}; not fitted: {} numbers of clients with {} runs each are needed, "
        "there are {} with {}",
        nothing, usl_finding::least_counts, usl_finding::least_repeats, all.size(), least);
    return f;
  }
  f.fit = fit_usl(points);
  if (!f.fit) {
    f.says = fmt::format("{}; the law does not fit", nothing);
    return f;
  }
  add_residuals(all, f);
  add_intervals(all, least, seed, f);
  f.says = f.found ? fmt::format("peak at {:.0f} clients ({:.0f} to {:.0f})", f.found->clients,
                                 f.found->low, f.found->high)
                   : fmt::format("{}; the data do not tell where one would be", nothing);
  return f;
}

}  // namespace lockmark::capacity
