// The effect of each fault of a run on its lock, measured and compared with theory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/faults/schedule.hpp"
#include "harness/faults/theory.hpp"
#include "harness/run/history_checker.hpp"

namespace lockmark::run {

struct fault_finding {
  std::string kind;
  std::string text;
  double at_s = 0;   // since the window began
  double for_s = 0;  // 0: a moment
  // From the fault to the grant that ended the time without one (check/aftermath.hpp); nullopt: no
  // further grant.
  std::optional<std::int64_t> recovery_ns;
  std::uint64_t keys = 0;                     // that were asked for and not granted for a time
  std::uint64_t keys_never = 0;               // of these, those not granted again
  std::uint64_t violations = 0;               // certain ones, until the next fault
  std::uint64_t violations_among_others = 0;  // of these, those without the affected hold
  std::optional<faults::prediction> predicted;
  std::optional<bool> agrees;  // none: nothing is predicted, or it was not observed
};

// `job`: its number of participants tells which clients a fault on one of them hit. `server`: as
// it describes itself.
std::vector<fault_finding> judge_faults(const std::vector<faults::infliction>& inflicted,
                                        const findings& found, const config::job& job,
                                        features lock, const window& measured,
                                        const description& server = {});

}  // namespace lockmark::run
