// The gate's metrics, read from run folders.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/config/job.hpp"
#include "harness/gate/decision.hpp"
#include "harness/gate/session.hpp"
#include "harness/report/read.hpp"

namespace lockmark::gate {

// All of them, in display order. Counts are exact if no client ever waits for another; otherwise
// chance decides how often a client asks.
std::vector<metric> known_metrics(bool counts_are_exact);

// "acquire_p50, acquire_p99, ..."
std::string known_metric_names();

// True if every client of the job has its own key, so that each acquire costs the same.
bool nobody_waits(const config::job& job);

// Nothing if the run has no such figure: no hand-off between clients, no count of the commands sent
// by a client in its own process. A censored time counts as its lower bound, and is
// doubted by block_of. Throws usage_error for
// a quantile of too few attempts; `who`: "the baseline".
std::optional<double> value_of(std::string_view metric, const report::recorded_run& run,
                               std::string_view who);

// The metrics that the run has. Throws usage_error if it lacks one that was requested by name.
std::vector<metric> measured_by(const std::vector<metric>& wanted, bool by_name,
                                const report::recorded_run& run, std::string_view who);

// Why a run is INVALID or a bound: "attempts began 1.2 ms late ...; ...".
std::string reasons_of(const report::recorded_run& run);

// True if lockmark or the machine slowed the run down: its timings are bounds.
bool is_bound(const report::recorded_run& run);

// A run as a block of a session, with its doubts: a bound or a censored time is not measured.
// Throws usage_error if it lacks a metric.
block block_of(const std::vector<metric>& metrics, const report::recorded_run& run,
               std::string_view who);

// Text for people: "62.1 us", "15,200/s", "99.98 %", "2.000".
std::string value_text(std::string_view metric, double value);

// Identifies a machine: name, kernel, CPU model and cores.
std::string host_fingerprint(const report::recorded_run& run);

// The first difference between the run's job and this one, "hold is 0s there and 1ms here"; empty
// if they are the same job. Length and number of measurements, seed, lock and lock options may
// differ.
std::string other_job(const report::recorded_run& run, const config::job& job);

}  // namespace lockmark::gate
