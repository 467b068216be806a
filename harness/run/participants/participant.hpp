// The other side of process_worker_pool: lockmark, started as a participant.
#pragma once

#include <functional>
#include <memory>

#include "harness/run/participants/assignment.hpp"
#include "harness/workload.hpp"

namespace lockmark::run {

// The components of a participant. A participant never calls the driver's prepare() or wipe(): the
// run controller's process has its own driver for those, so open() may rely on the servers' state
// only.
struct equipment {
  const lock_kind& lock;
  const workload_kind& workload;
  std::unique_ptr<driver> behind;
};
using outfitter = std::function<equipment(const assignment&)>;

// Does the work of a participant to its end and returns the exit status. Throws usage_error if this
// process was not started as one.
int be_participant(const outfitter& equip);

}  // namespace lockmark::run
