// All findings of one run, as values. Reporting them is up to harness/report.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/config/job.hpp"
#include "harness/driver.hpp"
#include "harness/run/fault_findings.hpp"
#include "harness/run/history_checker.hpp"
#include "harness/run/host.hpp"
#include "harness/run/recorder.hpp"
#include "harness/run/validity.hpp"
#include "harness/stats/confidence.hpp"

namespace lockmark::run {

// How the run ended.
enum class ending : std::uint8_t { complete, interrupted, server_lost, failed };

// The name in run.json.
constexpr std::string_view name_of(ending e) {
  switch (e) {
    case ending::complete: return "complete";
    case ending::interrupted: return "interrupted";
    case ending::server_lost: return "server_lost";
    case ending::failed: return "failed";
  }
  return "?";
}

// One interval of the window.
struct timeline_point {
  double at_s = 0;  // since the window began
  double length_s = 0;
  std::uint64_t attempts = 0;
  std::uint64_t granted = 0;
  std::uint64_t not_granted = 0;
  stats::quantile_ns response_p50;  // of all attempts, if there are any
  stats::quantile_ns response_p99;
  std::int64_t timer_lag_p99_ns = 0;
};

// A deliberate or accidental event of the run: a stretch of its timeline.
struct mark {
  double at_s = 0;   // since the window began
  double for_s = 0;  // 0: a moment
  std::string kind;  // "kill_server", "pause_client": few distinct values, a label in Prometheus
  std::string text;  // one sentence for people
  bool is_of_job = true;  // false: nobody wanted it, such as a freeze of the machine
};

// A machine that carried a part of the load, and how its clock stood against the coordinator's.
struct load_host {
  std::string name;  // of its agent
  std::string host;
  double cores = 0;
  std::vector<std::uint32_t> participants;
  std::int64_t clock_offset_ns = 0;  // its clock - the coordinator's
  std::uint64_t clock_exchanges = 0;
  std::uint64_t clock_breaks = 0;  // its clock was set, or it was suspended
  stats::histogram clock_error;    // after each exchange, ns
  std::int64_t late_ns = 0;        // by how much an order came too late; the most
  bool lost = false;
};

// The harness's performance with the memory lock instead of a server.
struct floor_measurement {
  double cycles_per_s = 0;
  std::int64_t response_p50_ns = 0;
  std::int64_t response_p99_ns = 0;
};

struct stability {
  bool known = false;  // enough intervals to tell
  bool drifts = false;
  // p50 of all attempts in the first and the last fifth of the window.
  stats::quantile_ns first;
  stats::quantile_ns last;
};

// Of p50 over all attempts; intervals in which none ended have no say.
stability stability_of(const std::vector<timeline_point>& timeline);

struct result {
  // The subject of the run.
  std::string run_id;
  config::job job;
  std::string scenario;  // the job's short name: the stem of its file
  std::string lock;
  std::string implementation;  // the source of the lock's algorithm, in brief
  std::string workload;
  std::string target;  // redacted
  std::string topology;
  features lock_has;
  safety promises = safety::none;
  std::uint32_t holders = 1;  // how many clients may hold a key at once; 0: any number
  std::vector<std::string> arguments;

  // How it ended.
  ending how = ending::failed;
  std::string why;  // a sentence, unless complete
  std::int64_t started_wall_ns = 0;
  std::int64_t window_start_ns = 0;  // monotonic, like the stamps of `found`
  std::int64_t window_ns = 0;
  double warmup_s = 0;

  // The measurements.
  interval totals;  // counted attempts
  findings found;
  std::vector<timeline_point> timeline;
  std::vector<mark> marks;            // in the order of time
  std::vector<fault_finding> faults;  // the effect of each fault on the lock
  stats::interval_bootstrap bootstrap;
  std::optional<floor_measurement> floor;
  stats::histogram hiccup;      // hiccups::by_beat
  stats::histogram late_wakes;  // hiccups::by_wake

  // The cost, over the whole life of the load (warm-up to drain).
  std::uint64_t grants_in_all = 0;
  traffic sent;
  server_counters server;  // deltas
  description server_is;
  std::vector<load_host> hosts;        // where the load came from; empty: from this machine
  std::vector<std::string> preflight;  // possible problems of the run, found before it
  host_facts host;
  double harness_cpu = 0;     // cores used, in the window
  double busiest_worker = 0;  // share of a core
  std::uint32_t workers = 1;
  double absent_share = 0;  // of the load due from participants, lost by deaths in the window

  self_measurement self;
  validity verdict;
  stability steady;

  // Keeps the first reason: later ones may be its consequences.
  void end_as(ending other, const std::string& reason) {
    if (how != ending::complete) return;
    how = other;
    why = reason;
  }

  double window_s() const { return static_cast<double>(window_ns) / 1e9; }
  double tps() const { return window_ns > 0 ? static_cast<double>(found.grants) / window_s() : 0; }
  std::uint64_t attempts() const { return totals.counts.attempts(); }
  double success_rate() const {
    const auto all = static_cast<double>(attempts());
    return all > 0 ? static_cast<double>(totals.counts[counter::granted]) / all : 0;
  }
  stats::attempts responses() const { return totals.all_attempts(series::response, job.wait); }
  // Whether the lock has answered at all.
  bool answered() const { return grants_in_all > 0 || totals.counts.answered() > 0; }
  // Why the verdict could not have been another one; none: a violation was found, or there were
  // chances to find one. Only a lock that was tested can be said to have held.
  std::optional<message> untested() const;
  // Says of clients that they starved: which got nothing, and how few took most. No verdict.
  std::vector<message> starvation() const;
  // Times that the lock was proved not to be one.
  std::uint64_t violations() const {
    // A grant to a second holder usually shows more than once: as an overlap, by its token, and in
    // the guarded resource.
    const std::uint64_t guarded = found.guard ? found.guard->proofs() : 0;
    return std::max({found.certain_violations, found.stale_tokens, guarded}) + found.lost_updates +
           totals.counts[counter::broken_promises];
  }
};

}  // namespace lockmark::run
