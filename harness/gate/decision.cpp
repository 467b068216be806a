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

}  // namespace

double worsening(const metric& m, double baseline, double candidate) {
  const double change = std::log(candidate / baseline);
  return m.higher_is_better ? -change : change;
}

double smallest_detectable(std::span<const double> differences, std::size_t pairs) {
  const auto n = static_cast<double>(pairs);
  return relative((2.68 + 1.645) * deviation(differences) / std::sqrt(n));
}

double smallest_detectable(std::span<const double> differences) {
  return smallest_detectable(differences, differences.size());
}

assessment assess(const metric& m, std::span<const double> differences, double confidence) {
  const paired_shift shift(differences);
  const double effect = shift.hodges_lehmann();
  const double least = shift.lower_bound(confidence);
  assessment a;
  a.effect = relative(effect);
  a.least = relative(least);
  a.most = relative(shift.upper_bound(confidence));
  a.blind_spot = smallest_detectable(differences);
  a.p_value = shift.p_value_above_zero();
  a.worse = least > 0 && effect > std::log1p(m.tolerated);
  return a;
}

bool exactly_worse(const metric& m, double difference) {
  return difference > std::log1p(m.tolerated);
}

}  // namespace lockmark::gate
