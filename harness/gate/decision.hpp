// Has one metric become worse? Judged from the ranks of runs of both sides.
//
// Each pair is a run of the baseline and one of the candidate, next to each other, in random order.
// Without a real difference the signs of the pairs' differences are exchangeable, whatever the
// noise looks like, so a signed-rank bound holds. session.hpp: how pairs and metrics make one
// session, and what a session promises.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "harness/gate/rank_shift.hpp"

namespace lockmark::gate {

struct metric {
  std::string name;  // "acquire_p50"
  bool higher_is_better = false;
  double tolerated = 0.05;  // relative worsening that is acceptable
  bool exact = false;       // a count that does not vary: compared without statistics
  // If a worsening of this size could have stayed unseen, the metric does not pass.
  double largest_blind_spot = 0.25;
};

// ln(candidate / baseline), positive if the candidate is worse. REQUIRES: both above 0.
double worsening(const metric& m, double baseline, double candidate);

// What the runs show about one metric. Effects are relative: 0.12 is 12 % worse.
struct assessment {
  double effect = 0;                                        // Hodges-Lehmann
  double least = -std::numeric_limits<double>::infinity();  // lower confidence bound, 97.5 %
  double most = std::numeric_limits<double>::infinity();    // upper confidence bound, 97.5 %
  // The smallest worsening that would not have passed. The effect must lie as far above 0 as its
  // lower bound is below it, and above the tolerance; and the true worsening as far above that as
  // the upper bound is above the effect. So what is not worse has its upper bound here at most, and
  // that lies below a true worsening in 2.5 % of cases, whatever the noise. Infinite with too few
  // runs.
  double blind_spot = std::numeric_limits<double>::infinity();
  double p_value = 1;  // of the hypothesis "no worse"
  bool worse = false;  // beyond doubt, and beyond the tolerance
};

// `shift` as worsening() gives it. `confidence`: of being worse at all, before the candidate is
// called worse.
assessment assess(const metric& m, const rank_shift& shift, double confidence);

// For an exact metric: one pair is enough.
bool exactly_worse(const metric& m, double difference);

// In ascending gravity. A warning is a regression that the baseline is too weak to prove.
enum class decision : std::uint8_t { pass, warning, inconclusive, regression };

constexpr std::string_view name_of(decision d) {
  switch (d) {
    case decision::pass: return "PASS";
    case decision::warning: return "WARNING";
    case decision::inconclusive: return "INCONCLUSIVE";
    case decision::regression: return "REGRESSION";
  }
  return "?";
}

}  // namespace lockmark::gate
