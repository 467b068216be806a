// Freezes of those who carry the load: what they did to the figures, and whose doing they were.
//
// A worker that the scheduler, SIGSTOP or a suspended machine keeps from running measures nothing
// meanwhile, and takes the time for the lock's. Freezes that a fault of the job caused are
// intended.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/faults/schedule.hpp"
#include "harness/run/result.hpp"

namespace lockmark::run {

// Those of `seen` that no fault on the worker's participant explains: what remains of one outside
// all its faults must still be a freeze. Cut to the window, in order of time.
std::vector<freeze> unexplained(std::span<const freeze> seen,
                                const std::vector<faults::infliction>& inflicted,
                                std::int64_t window_start_ns, std::int64_t window_end_ns);

// Judges the freezes of the workers of `r`: completes `r.self` and `r.marks`, and takes their time
// out of the longest gap without a grant. REQUIRES: the totals, findings and window of `r`.
void judge_freezes(result& r, const std::vector<faults::infliction>& inflicted);

// The same for what the hiccup meter saw: a suspended machine, and a freeze of lockmark while its
// participants went on, which only leaves a mark. Called after judge_freezes.
void judge_own_freezes(result& r, std::span<const freeze> of_lockmark,
                       std::span<const freeze> asleep);

}  // namespace lockmark::run
