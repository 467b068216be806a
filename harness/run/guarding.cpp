#include "harness/run/guarding.hpp"

#include <fmt/core.h>

namespace lockmark::run {

void check_guard(const config::job& job, const lock_kind& lock, std::uint32_t holders) {
  if (job.guard == config::guard_kind::none) return;
  if (lock.has.has(feature::optimistic)) {
    throw usage_error(
        "guard: register needs a lock that is held, and nobody holds {}, which is optimistic",
        lock.name);
  }
  if (job.read_share > 0) {
    throw usage_error("guard: register is written by each holder, and readers write nothing");
  }
  if (holders == 1) return;
  const std::string admitted = holders == 0 ? "any number" : fmt::format("{}", holders);
  throw usage_error("guard: register needs a lock with one holder at a time, and {} admits {}",
                    lock.name, admitted);
}

own_guard::own_guard(const config::job& job, const lock_kind& lock, std::uint32_t holders)
    : registers_(job.guard == config::guard_kind::none ? 0 : job.keys.count(job.clients_in_all())) {
  check_guard(job, lock, holders);
  if (!registers_.empty()) guard_.emplace(registers_, lock.has.has(feature::fencing_token));
}

}  // namespace lockmark::run
