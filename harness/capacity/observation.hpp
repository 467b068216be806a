// What one run has told, as far as capacity is concerned. The program makes it of a run's result;
// tests make it of a simulated lock.
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
  double granted_per_s = 0;   // optimistic: commits
  double granted_share = 1;   // of all attempts
  std::uint64_t dropped = 0;  // due, but never begun
  bool clients_all_busy = false;
  std::vector<stretches> against;                   // one for each objective
  std::vector<stats::quantile_estimate> quantiles;  // of responses, as they were asked for
  // Durations of attempts that were granted, and of what followed.
  stats::histogram hold;
  stats::histogram release;
  stats::histogram transfer;        // hand-offs to somebody else
  stats::histogram self_reacquire;  // and back to the one who released
  stats::histogram renewal;
  stats::histogram loop_lag;
  double commands_per_grant = 0;  // 0: unknown
  bool counted_by_server = false;
  bool valid = true;             // false: the harness is to blame for part of it
  bool worth_repeating = false;  // it might do better another time
  std::vector<std::string> reasons;
};

// A number, how far it can be believed (95 % unless it says otherwise), and what it rests on.
struct figure {
  double value = 0;
  double low = 0;
  double high = 0;
  std::vector<std::string> runs;
};

}  // namespace lockmark::capacity
