#include "harness/cli/participants.hpp"

#include <fmt/core.h>

#include "harness/cli/execute.hpp"
#include "harness/run/participants/participant.hpp"

namespace lockmark::cli {

std::unique_ptr<run::process_crew> make_participants(const place& where, const run::muster& who,
                                                     const real_clock& clock) {
  if (who.job.participants == 0) return nullptr;
  if (where.form == "memory") {
    throw usage_error(
        fmt::format("participants: {} processes need a server between them, and {} is a lock in "
                    "the memory of one",
                    who.job.participants, who.lock.name));
  }
  return std::make_unique<run::process_crew>(clock, who);
}

int be_participant(const catalogue& known) {
  return run::be_participant([&known](const run::assignment& a) {
    const lock_kind& lock = known.lock(a.lock);
    return run::equipment{lock, known.workload(a.workload),
                          lock.make({a.target, names_of(a.job, a.run_id), a.options})};
  });
}

}  // namespace lockmark::cli
