// Absolute limits: --fail 'p99>20ms' defines when a run has failed.
//
//   FIGURE OPERATOR VALUE     figure:    p50 p90 p95 p99 p99.9 p99.99 max (acquire, response),
//                                        tps, success_rate, handoff_p50, handoff_p99,
//                                        commands, round_trips (per acquire), violations
//                             operator:  > >= < <=
//                             value:     a duration for times ("20ms"), "100/s" for tps, "99.9%"
//                                        for success_rate, else a number
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/config/parsed.hpp"
#include "harness/report/read.hpp"
#include "harness/run/live.hpp"

namespace lockmark::gate {

struct threshold {
  enum class comparison : std::uint8_t { above, at_least, below, at_most };

  std::string text;  // as given, without blanks
  std::string figure;
  comparison fails_if = comparison::above;
  double limit = 0;       // nanoseconds, per second, a share of 1, or a number
  bool required = false;  // the text says what has to hold, not what fails

  std::string_view option() const { return required ? "--require" : "--fail"; }
};

// `text`: what must not be, such as "p99>20ms"; of one that is required, what must be.
config::parsed<threshold> parse_threshold(std::string_view text, bool required = false);

// The failure of a finished run: "p99 was 31.4 ms, and p99>20ms fails"; nothing if the limit holds.
// Throws usage_error for a quantile of too few attempts, and for a figure that the run does not
// have.
std::optional<std::string> broken_by(const threshold& t, const report::recorded_run& run);

// True if a run in progress is very unlikely to recover. For an upper limit of a quantile: so many
// attempts lie beyond it that chance would do so once in millions (five standard errors). For
// violations: at once. Other figures are judged at the end.
bool is_lost(const threshold& t, const run::live_view& so_far);

}  // namespace lockmark::gate
