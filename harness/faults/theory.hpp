// How long a lock should be out of reach after a fault, by what it declares: the prediction that a
// measured recovery is held against.
#pragma once

#include <optional>
#include <string>

#include "harness/config/fault_plan.hpp"
#include "harness/config/job.hpp"
#include "harness/features.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::faults {

struct prediction {
  duration least{};
  std::optional<duration> most;  // none: it never comes back by itself
  std::string why;               // "the lease of 2 s ran from the grant"
};

// Nothing where theory has nothing to say (a user's command, a server whose failover has settings
// of its own). `held`: how long the victim had held its key when it was hit; none: it held nothing.
// Of a parted ensemble the victim is the client that is on the side of the minority.
// `job` has all options of the lock, also those that it leaves as they are by default.
std::optional<prediction> predict(const config::fault_plan& plan, features lock,
                                  const config::job& job, std::optional<duration> held);

// The tolerance of requirement R14: 200 ms early, 600 ms late, for stamps, polling and scheduling.
bool agrees(const prediction& theory, std::optional<duration> recovery);

}  // namespace lockmark::faults
