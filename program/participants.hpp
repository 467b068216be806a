// Runs with instances in processes of their own: lockmark's side, and the participant's.
#pragma once

#include <memory>

#include "harness/faults/players.hpp"
#include "harness/run/participants/process_crew.hpp"
#include "program/catalogue.hpp"
#include "program/place.hpp"

namespace lockmark::cli {

// Null for a job without participants. Throws usage_error for a place that only one process sees.
std::unique_ptr<run::process_crew> make_participants(const place& where, const run::muster& who,
                                                     const real_clock& clock);

// The same as faults see them; null for null. Outlived by what it was made from.
std::unique_ptr<faults::players> players_of(run::process_crew* crew);

// What `lockmark participant` does, which nobody but lockmark itself calls; the exit status.
int be_participant(const catalogue& known);

}  // namespace lockmark::cli
