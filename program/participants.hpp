// Runs with instances in processes of their own: lockmark's side, and the participant's.
#pragma once

#include <memory>

#include "harness/faults/participant_control.hpp"
#include "harness/run/participants/process_worker_pool.hpp"
#include "program/catalogue.hpp"
#include "program/resolved_target.hpp"

namespace lockmark::cli {

// Null for a job without participants. Throws usage_error for a target that only one process sees.
std::unique_ptr<run::process_worker_pool> make_participants(const resolved_target& where,
                                                            const run::process_pool_setup& who,
                                                            const real_clock& clock);

// The interface for faults; null for null. `workers` must outlive it.
std::unique_ptr<faults::participant_control> control_of(run::process_worker_pool* workers);

// The body of `lockmark participant`, an internal command; returns the exit status.
int be_participant(const catalogue& known);

}  // namespace lockmark::cli
