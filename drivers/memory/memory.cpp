#include "drivers/memory/memory.hpp"

#include "drivers/memory/lock.hpp"
#include "drivers/memory/optimistic.hpp"

namespace lockmark::memory {
namespace {

std::unique_ptr<driver> make_lock(const driver_setup& setup) {
  return std::make_unique<lock_driver>(setup.run_names.keys.size(),
                                       manner{.waits = true, .reentrant = true});
}

std::unique_ptr<driver> make_try_lock(const driver_setup& setup) {
  return std::make_unique<lock_driver>(setup.run_names.keys.size(),
                                       manner{.waits = false, .reentrant = false});
}

std::unique_ptr<driver> make_optimistic(const driver_setup& setup) {
  return std::make_unique<optimistic_driver>(setup.run_names.keys.size());
}

}  // namespace

std::vector<lock_kind> kinds() {
  const features leased =
      feature::fencing_token | feature::lease | feature::renewable | feature::session_bound;
  return {
      {.name = "memory/lock",
       .summary = "a fair, reentrant lock in this process; the harness's floor",
       .has = leased | feature::server_wait | feature::fair | feature::reentrant,
       .promises = safety::lease_and_token,
       .topologies = "memory",
       .algorithm = "a mutex-protected owner and a queue per key",
       .options = {},
       .make = make_lock},
      {.name = "memory/try_lock",
       .summary = "a lock in this process that is tried, not waited for",
       .has = leased,
       .promises = safety::lease_and_token,
       .topologies = "memory",
       .algorithm = "a mutex-protected owner per key",
       .options = {},
       .make = make_try_lock},
      {.name = "memory/optimistic",
       .summary = "a version per key in this process; commits if nobody else has",
       .has = feature::optimistic,
       .promises = safety::transaction,
       .topologies = "memory",
       .algorithm = "compare and swap of a version",
       .options = {},
       .make = make_optimistic},
  };
}

}  // namespace lockmark::memory
