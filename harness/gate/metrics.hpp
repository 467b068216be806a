// What the gate compares, read from run folders.
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

// All of them, in the order in which they are shown. Counts are exact where nobody ever waits for
// another; elsewhere chance decides how often a client asks.
std::vector<metric> known_metrics(bool counts_are_exact);

// "acquire_p50, acquire_p99, ..."
std::string known_metric_names();

// Whether every client of the job has a key for itself, so that each acquire costs the same.
bool nobody_waits(const config::job& job);

// Nothing where the run has no such figure: no hand-off between clients, no count of what a client
// in a process of its own has sent. A censored time is what it is known to exceed. Throws
// usage_error for a quantile of too few attempts; `who`: "the baseline".
std::optional<double> value_of(std::string_view metric, const report::recorded_run& run,
                               std::string_view who);

// The metrics that the run has; throws usage_error if it lacks one that was asked for by name.
std::vector<metric> measured_by(const std::vector<metric>& wanted, bool by_name,
                                const report::recorded_run& run, std::string_view who);

// A run as a block of a session. Throws usage_error if it lacks a metric.
block block_of(const std::vector<metric>& metrics, const report::recorded_run& run,
               std::string_view who);

// Text for people: "62.1 us", "15,200/s", "99.98 %", "2.000".
std::string value_text(std::string_view metric, double value);

// What makes two machines the same: name, kernel, CPU model and cores.
std::string host_fingerprint(const report::recorded_run& run);

// The first thing that makes the run's job another than this one, "hold is 0s there and 1ms here";
// empty if it is the same job. How long and how often it is measured, the seed, the lock and its
// options may differ.
std::string other_job(const report::recorded_run& run, const config::job& job);

}  // namespace lockmark::gate
