// Are the numbers of a run credible? Rules over the harness's measurements of itself.
//
// Two kinds of failure, kept apart on purpose:
//   * INVALID: the numbers are wrong, or an estimate. Never ranked.
//   * a bound: a closed loop that the harness itself slowed down. Each of its delays can only have
//     lowered the throughput and raised the latencies, so they stand as bounds (">=", "<=").
// An open loop has no such excuse: the harness's delays are charged to the lock, so it is INVALID.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/base/messages.hpp"

namespace lockmark::run {

// Times for which those who carry the load did not run, by no fault of the job (freezes.hpp).
struct freezing {
  double share = 0;        // of the window, mean over the workers: of the load that was not offered
  double worst_share = 0;  // of the window, of the worker that stood longest
  std::int64_t longest_ns = 0;
  double attempts = 0;               // closed loops: at most so many met a freeze
  message sentence{"", {}};          // who, how long, and when
  std::int64_t suspended_ns = 0;     // the machine
  std::int64_t suspended_at_ns = 0;  // since the window began
};

struct self_measurement {
  bool closed_loop = true;
  bool debug_build = false;
  std::int64_t reported_p99_ns = 0;  // response, granted attempts
  std::int64_t reported_p50_ns = 0;
  std::int64_t pipe_p50_ns = 0;  // taken out of the response
  std::int64_t pipe_p99_ns = 0;
  bool pipe_unknown = false;          // a client in another process did not stamp its answers
  std::int64_t timer_lag_p99_ns = 0;  // late sends despite a free client
  std::int64_t hiccup_p999_ns = 0;    // of the wakings of an idle thread
  std::int64_t hiccup_p99_of_time_ns = 0;
  freezing frozen;
  std::optional<message> late_hosts;  // began or ended later than agreed
  std::uint64_t attempts = 0;
  double offered_per_s = 0;   // open loops: the job's rate
  double achieved_per_s = 0;  // open loops: attempts begun
  double chance_per_s = 0;    // random arrivals: the shortfall that chance explains (3 sigma)
  std::uint64_t dropped = 0;
  bool clients_all_busy = false;  // open loops: attempts waited for a free client
  double busiest_worker = 0;      // CPU share of its core, 0 to 1
  double busy_proxies = 0;        // the same of lockmark's proxies, which are one thread
  double process_cpu = 0;         // CPU share of all usable cores, 0 to 1
  double steal = 0;               // share of the machine taken by the hypervisor
  std::uint64_t times_throttled = 0;
  std::optional<double> cpu_waiting;  // share of the window in which some task waited for a core
  std::optional<double> floor_rate_per_s;  // rate of the harness without a lock behind it
  bool littles_law_fails = false;
  double littles_law_difference = 0;  // relative
};

struct validity {
  bool valid = true;
  bool bound = false;      // closed loop limited by the harness: ">=" and "<="
  bool saturated = false;  // open loop: the lock could not keep up; numbers are right, and grow
  std::vector<message> reasons;
};

validity judge(const self_measurement& m);

}  // namespace lockmark::run
