// One run's results that matter for capacity. The program makes it from a run's result; tests make
// it from a simulated lock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/capacity/evidence.hpp"
#include "harness/stats/confidence.hpp"
#include "harness/stats/histogram.hpp"

namespace lockmark::capacity {

struct observation {
  std::string run;            // name of its folder
  std::uint32_t workers = 1;  // that shared its arrivals
  double warmup_s = 0;        // load before the measurement
  double granted_per_s = 0;   // optimistic: commits
  double granted_share = 1;   // of all attempts
  std::uint64_t dropped = 0;  // due, but never begun
  bool clients_all_busy = false;
  std::vector<stretches> against;                   // one per objective
  std::vector<stats::quantile_estimate> quantiles;  // of responses, as requested
  // Durations of granted attempts and of what followed.
  stats::histogram hold;
  stats::histogram release;
  stats::histogram transfer;        // hand-offs to another client
  stats::histogram self_reacquire;  // and back to the releasing client
  stats::histogram renewal;
  stats::histogram loop_lag;
  double commands_per_grant = 0;  // 0: unknown
  bool counted_by_server = false;
  bool valid = true;             // false: partly distorted by the harness
  bool worth_repeating = false;  // another try might be better
  std::vector<std::string> reasons;
};

// A number, its interval (95 % unless stated otherwise), and the runs it rests on.
struct figure {
  double value = 0;
  double low = 0;
  double high = 0;
  std::vector<std::string> runs;
};

}  // namespace lockmark::capacity
