// Has it become worse? Decides by interleaved pairs in two stages, so that noise raises no alarm.
//
// Each pair is a run of the baseline and one of the candidate, next to each other, in random order.
// The first stage only suspects; the second tests what is suspected on new pairs. Without a real
// difference the signs of the pairs' differences are exchangeable, so the probability of a false
// alarm is at most 0.05 x 0.01 for each metric, whatever the noise looks like
// (requirement R18; measured: 0.00 to 0.03 % where a comparison of two runs alarms in 26 %).
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace lockmark::gate {

inline constexpr std::size_t first_pairs = 10;
inline constexpr std::size_t second_pairs = 20;
inline constexpr double suspicion_confidence = 0.95;
inline constexpr double alarm_confidence = 0.99;
// A run that could not have seen a change of this size passes nothing.
inline constexpr double largest_blind_spot = 0.25;

struct metric {
  std::string name;  // "acquire_p50"
  bool higher_is_better = false;
  double tolerated = 0.05;  // relative worsening that nobody minds
  bool exact = false;       // a count that does not vary: compared without statistics
};

// ln(candidate / baseline), positive where it became worse. REQUIRES: both above 0.
double worsening(const metric& m, double baseline, double candidate);

// What a stage says of one metric. Effects are relative: 0.12 is 12 % worse.
struct assessment {
  double effect = 0;                                        // Hodges-Lehmann
  double least = -std::numeric_limits<double>::infinity();  // lower confidence bound
  double blind_spot = 0;  // the smallest worsening that it would have found 95 times in 100
  bool worse = false;     // least above 0, and effect beyond what is tolerated
};

// `differences`: of one stage's pairs, as worsening() gives them.
assessment assess(const metric& m, std::span<const double> differences, double confidence);

// The smallest effect that n pairs with this spread find in 95 of 100 cases: exp((2.68 + 1.645) s /
// sqrt(n)) - 1.
double smallest_detectable(std::span<const double> differences);

enum class decision { pass, regression, inconclusive };

// Whether the first stage asks for a second one.
bool is_suspicious(const metric& m, std::span<const double> first);

// One metric over both stages. `second` is empty where the first stage suspected nothing;
// `suspects`: among how many metrics the second stage's error is shared (Holm's method gives the
// most conspicuous one the strictest level; `rank` counts from 0, the most conspicuous).
decision decide(const metric& m, std::span<const double> first, std::span<const double> second,
                std::size_t suspects = 1, std::size_t rank = 0);

}  // namespace lockmark::gate
