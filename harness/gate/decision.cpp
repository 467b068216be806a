#include "harness/gate/decision.hpp"

#include <algorithm>
#include <cmath>

namespace lockmark::gate {
namespace {

// Each bound of a two-sided 95 % interval.
constexpr double shown_confidence = 0.975;

double relative(double log_ratio) {
  return std::expm1(log_ratio);
}

}  // namespace

double worsening(const metric& m, double baseline, double candidate) {
  const double change = std::log(candidate / baseline);
  return m.higher_is_better ? -change : change;
}

assessment assess(const metric& m, const rank_shift& shift, double confidence) {
  const double effect = shift.hodges_lehmann();
  const double least = shift.lower_bound(confidence);
  const double most = shift.upper_bound(shown_confidence);
  const double tolerated = std::log1p(m.tolerated);
  const double accused_at = std::max(effect - least, tolerated);
  assessment a;
  a.effect = relative(effect);
  a.least = relative(shift.lower_bound(shown_confidence));
  a.most = relative(most);
  a.blind_spot = relative(accused_at + most - effect);
  a.p_value = shift.p_value_above_zero();
  a.worse = least > 0 && effect > tolerated;
  return a;
}

bool exactly_worse(const metric& m, double difference) {
  return difference > std::log1p(m.tolerated);
}

}  // namespace lockmark::gate
