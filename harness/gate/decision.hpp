// Has one metric become worse? Judged from the differences of interleaved pairs.
//
// Each pair is a run of the baseline and one of the candidate, next to each other, in random order.
// Without a real difference the signs of the pairs' differences are exchangeable, whatever the
// noise looks like, so a signed-rank bound holds. session.hpp: how pairs and metrics make one
// session, and what a session promises.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

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

// What the pairs show about one metric. Effects are relative: 0.12 is 12 % worse.
struct assessment {
  double effect = 0;                                        // Hodges-Lehmann
  double least = -std::numeric_limits<double>::infinity();  // lower confidence bound
  double most = std::numeric_limits<double>::infinity();    // upper confidence bound
  double blind_spot = 0;  // the smallest worsening found with probability 95 %
  double p_value = 1;     // of the hypothesis "no worse"
  bool worse = false;     // least above 0, and effect beyond the tolerance
};

// `differences`: of 1 to 60 pairs, as worsening() gives them. Each bound on its own holds with
// `confidence`.
assessment assess(const metric& m, std::span<const double> differences, double confidence);

// The smallest effect that n pairs with this spread find in 95 % of cases: exp((2.68 + 1.645) s /
// sqrt(n)) - 1.
double smallest_detectable(std::span<const double> differences);
// The same for `pairs` pairs with the spread of these.
double smallest_detectable(std::span<const double> differences, std::size_t pairs);

// For an exact metric: one pair is enough.
bool exactly_worse(const metric& m, double difference);

enum class decision : std::uint8_t { pass, regression, inconclusive };

constexpr std::string_view name_of(decision d) {
  switch (d) {
    case decision::pass: return "PASS";
    case decision::regression: return "REGRESSION";
    case decision::inconclusive: return "INCONCLUSIVE";
  }
  return "?";
}

}  // namespace lockmark::gate
