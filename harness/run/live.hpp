// The state of a run in progress, for its observers: a progress line, Prometheus.
//
// Filled in by the run controller on its own thread, a few times a second; nothing here is on the
// hot path.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/run/result.hpp"

namespace lockmark::run {

enum class phase : std::uint8_t { opening, warming_up, measuring, draining, cleaning };

// A brief look, five times a second.
struct progress {
  run::phase now = phase::opening;
  double elapsed_s = 0;        // of the phase
  double fraction = 0;         // of the measurement that is done, 0 to 1
  double remaining_s = 0;      // of the measurement, an estimate
  double tps = 0;              // grants since the last look, counted or not
  std::int64_t connected = 0;  // clients
  std::int64_t clients = 0;    // in all
  std::int64_t in_flight = 0;
  std::int64_t attempts = 0;  // counted so far
  std::uint64_t violations = 0;

  // Of the last whole interval of the window; unset before the first one.
  bool has_point = false;
  double success_rate = 0;          // 0 to 1
  stats::quantile_ns response_p50;  // of all attempts; those that were not granted are the latest
  stats::quantile_ns response_p99;

  // Time since a server last answered although it was asked; 0 while one answers.
  double server_silent_s = 0;
};

// Everything known so far, once a second. Cumulative since the window began, over counted attempts,
// unless stated otherwise; so the last view agrees with the result.
struct live_view {
  run::phase now = phase::opening;
  const result& known;     // identity of the run, as in setup::on_window
  const interval& totals;  // of the whole intervals
  const findings& found;
  server_counters server;      // growth since the load began, as of the last look (every 5 s)
  std::int64_t in_flight = 0;  // attempts between first try and end or release, now
  std::int64_t holding = 0;    // of these, those that hold their key, now
  double offered_per_s = 0;    // 0: a closed loop
  double server_silent_s = 0;
  std::vector<std::string> faults{};  // kinds of the active ones (mark::kind), each once
};

}  // namespace lockmark::run
