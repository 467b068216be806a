// Has one metric become worse? What the differences of interleaved pairs say of it.
//
// Each pair is a run of the baseline and one of the candidate, next to each other, in random order.
// Without a real difference the signs of the pairs' differences are exchangeable, whatever the
// noise looks like, and so a signed-rank bound keeps its promise. How pairs and metrics make one
// session, and what a session promises: session.hpp.
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
  double tolerated = 0.05;  // relative worsening that nobody minds
  bool exact = false;       // a count that does not vary: compared without statistics
  // What could not have shown a worsening of this size passes nothing.
  double largest_blind_spot = 0.25;
};

// ln(candidate / baseline), positive where it became worse. REQUIRES: both above 0.
double worsening(const metric& m, double baseline, double candidate);

// What pairs say of one metric. Effects are relative: 0.12 is 12 % worse.
struct assessment {
  double effect = 0;                                        // Hodges-Lehmann
  double least = -std::numeric_limits<double>::infinity();  // lower confidence bound
  double most = std::numeric_limits<double>::infinity();    // upper confidence bound
  double blind_spot = 0;  // the smallest worsening that it would have found 95 times in 100
  double p_value = 1;     // of "it is no worse"
  bool worse = false;     // least above 0, and effect beyond what is tolerated
};

// `differences`: of pairs, as worsening() gives them; 1 to 60 of them. Each bound holds with
// `confidence` by itself.
assessment assess(const metric& m, std::span<const double> differences, double confidence);

// The smallest effect that n pairs with this spread find in 95 of 100 cases: exp((2.68 + 1.645) s /
// sqrt(n)) - 1.
double smallest_detectable(std::span<const double> differences);
// The same, had there been `pairs` of them with the spread of these.
double smallest_detectable(std::span<const double> differences, std::size_t pairs);

// Of an exact metric: one pair shows it.
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
