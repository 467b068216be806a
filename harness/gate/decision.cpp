#include "harness/gate/decision.hpp"

#include <algorithm>
#include <cmath>

#include "harness/gate/signed_rank.hpp"

namespace lockmark::gate {
namespace {

double relative(double log_ratio) {
  return std::expm1(log_ratio);
}

double deviation(std::span<const double> values) {
  if (values.size() < 2) return std::numeric_limits<double>::infinity();
  double mean = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

// A count that should never change: one pair shows it.
decision compare_exactly(const metric& m, std::span<const double> pairs) {
  const double limit = std::log1p(m.tolerated);
  const bool worse = std::any_of(pairs.begin(), pairs.end(), [&](double d) { return d > limit; });
  return worse ? decision::regression : decision::pass;
}

}  // namespace

double worsening(const metric& m, double baseline, double candidate) {
  const double change = std::log(candidate / baseline);
  return m.higher_is_better ? -change : change;
}

double smallest_detectable(std::span<const double> differences) {
  const double n = static_cast<double>(differences.size());
  return relative((2.68 + 1.645) * deviation(differences) / std::sqrt(n));
}

assessment assess(const metric& m, std::span<const double> differences, double confidence) {
  const paired_shift shift(differences);
  const double effect = shift.hodges_lehmann();
  const double least = shift.lower_bound(confidence);
  assessment a;
  a.effect = relative(effect);
  a.least = relative(least);
  a.blind_spot = smallest_detectable(differences);
  a.worse = least > 0 && effect > std::log1p(m.tolerated);
  return a;
}

bool is_suspicious(const metric& m, std::span<const double> first) {
  return !m.exact && assess(m, first, suspicion_confidence).worse;
}

decision decide(const metric& m, std::span<const double> first, std::span<const double> second,
                std::size_t suspects, std::size_t rank) {
  if (m.exact) return compare_exactly(m, first);
  if (!second.empty() && is_suspicious(m, first)) {
    const double level = (1 - alarm_confidence) / static_cast<double>(suspects - rank);
    if (assess(m, second, 1 - level).worse) return decision::regression;
  }
  const auto& latest = second.empty() ? first : second;
  if (smallest_detectable(latest) > largest_blind_spot) return decision::inconclusive;
  return decision::pass;
}

}  // namespace lockmark::gate
