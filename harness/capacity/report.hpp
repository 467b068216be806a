// The findings of `lockmark capacity`: as values, as JSON and as Markdown. Computes nothing.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/capacity/objective.hpp"
#include "harness/capacity/observation.hpp"
#include "harness/capacity/rate_search.hpp"
#include "harness/capacity/usl.hpp"

namespace lockmark::capacity {

// The lock, as known before any measurement.
struct subject {
  std::string lock;
  std::string topology;
  std::string target;  // redacted
  std::string scenario;
  bool fair = false;        // serves its waiters in order
  bool optimistic = false;  // no exclusion: no hand-off, no bound
  bool renewable = false;
  bool leased = false;
  bool shares_session = false;  // all clients of a process share one session
  bool in_memory = false;       // no server: all measured time is the harness
};

// All times in seconds.
struct basics {
  figure lone_wait;             // response of one client without contention
  figure hold;                  // mean
  figure handoff;               // mean, to another owner, under contention
  figure service;               // hold and hand-off
  double second_moment_s2 = 0;  // of the service time
  double handoff_second_moment_s2 = 0;
  std::optional<figure> bound_per_s;  // keys / service; nothing if demand differs by key
  figure crowded_per_s;               // all clients on the job's keys, demand 1.5 times the bound
  figure server_per_s;      // the same clients, each with its own key, holding for no time
  double own_commands = 0;  // for each of these grants; 0: unknown
};

struct probed {
  probe what;
  outcome verdict = outcome::unclear;
  probe_result found;
  std::vector<stats::quantile_estimate> quantiles;  // of the last run
  bounds mean_wait_s;
  double granted_per_s = 0;
  bool pool_was_used_up = false;  // all clients were busy at some time
  bool harness_to_blame = false;  // more late than allowed, and a run was INVALID, repeatedly
  std::vector<std::string> runs;
};

// M/G/1 compared with the measurement.
struct comparison {
  double rate_per_s = 0;
  double utilisation = 0;
  double predicted_mean_s = 0;
  bounds measured_mean_s;
  double quantile = 0;
  double predicted_quantile_s = 0;
  stats::quantile_estimate measured;
  std::string run;
  double mean_error() const { return predicted_mean_s / measured_mean_s.value - 1; }
  // Nothing if the quantile is not supported or only known to exceed the wait timeout.
  std::optional<double> quantile_error() const;
};

// One combination of the contention sweep.
struct cell {
  std::uint64_t clients = 0;
  std::string keys;
  std::string hold;
  figure granted_per_s;  // closed loop, no pause
  double hold_s = 0;
  double handoff_s = 0;  // all hand-offs, even back to the releasing client; 0: no client waited
  std::optional<double> bound_per_s;
  std::optional<comparison> open;  // the same lock under random arrivals
};

struct scaling {
  std::string keys;
  std::string hold;
  usl_finding found;
  std::vector<std::string> runs;
};

struct plan_line {
  std::string name;   // "shards of the lock"
  std::string value;  // "4", "250 ms"
  std::string range;  // "4 to 5"; empty: none
  std::string why;
  std::vector<std::string> runs;
  nlohmann::ordered_json data;  // the same as numbers, with units in the keys
};

// The search beside replays (replay_search.hpp), where they tell enough of the lock.
struct beside_replays {
  double explained = 0;  // of the variance of the runs
  double scale = 1;      // of the hand-offs under contention
  bool in_order = true;  // the lock is more like one that serves in order of arrival
  double edge_per_s = 0;
  double minutes_that_hold = 0;  // of single minutes at the confirmed rate
};

struct findings {
  subject what;
  std::vector<objective> objectives;
  std::vector<std::string> arguments;
  std::string job;  // YAML, as at the start of the search
  std::optional<basics> base;
  std::vector<probed> probes;
  std::optional<figure> rate;  // the confirmed one; low: itself, high: edge, with 97.5 %
  std::optional<beside_replays> replayed;
  bool nothing_failed = false;  // the highest allowed rate passed
  bool limited_by_harness = false;
  std::vector<comparison> model;
  std::vector<cell> cells;
  std::vector<scaling> scalings;
  std::vector<plan_line> plan;
  std::vector<std::string> notes;  // sentences
};

nlohmann::ordered_json to_json(const findings& r);
std::string to_markdown(const findings& r);

}  // namespace lockmark::capacity
