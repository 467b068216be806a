// Whether a job, a lock and a machine fit together; declared in run_job.hpp.
#include <fmt/core.h>

#include <algorithm>

#include "harness/run/run_job.hpp"

namespace lockmark::run {

double offered_per_s(const config::job& job) {
  if (!job.rate) return 0;
  const bool sessions = job.loop == config::loop_kind::partly_open;
  return job.rate->per_second() * (sessions ? static_cast<double>(job.cycles) : 1);
}

std::uint32_t workers_for(const config::job& job) {
  auto wanted = static_cast<std::uint32_t>(job.threads);
  if (wanted == 0) wanted = std::max(1U, static_cast<std::uint32_t>(usable_cores()) - 1);
  return std::min(wanted, static_cast<std::uint32_t>(job.instances));
}

void check_fit(const config::job& job, const lock_kind& lock, const workload_kind& workload) {
  const features missing = workload.needs.without(lock.has);
  if (!missing.empty()) {
    throw usage_error("workload {} needs what lock {} does not have: {}", workload.name, lock.name,
                      to_string(missing));
  }
  const features common = workload.opposes.without(workload.opposes.without(lock.has));
  if (!common.empty()) {
    throw usage_error("workload {} does not go with lock {}, which is {}", workload.name, lock.name,
                      to_string(common));
  }
  if (job.reentrancy > 1 && !lock.has.has(feature::reentrant)) {
    throw usage_error("reentrancy: {} needs a reentrant lock, and {} is none", job.reentrancy,
                      lock.name);
  }
  if (job.renew && lock.has.has(feature::lease) && !lock.has.has(feature::renewable)) {
    throw usage_error("renew: lock {} has a lease that cannot be renewed", lock.name);
  }
}

std::optional<finding> judge_proxies(std::uint64_t connections, std::uint64_t limit) {
  constexpr std::uint64_t others = 64;  // doors, pipes, the servers' own connections
  const std::uint64_t needed = 2 * connections + others;
  if (needed <= limit) return std::nullopt;
  return finding{true, fmt::format("the faults of this job need proxies, and these {} file "
                                   "descriptors, two for each of {} connections, but may have {}: "
                                   "raise the limit (ulimit -Hn) or lower the number of clients",
                                   needed, connections, limit)};
}

}  // namespace lockmark::run
