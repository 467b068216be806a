// Runs one job on one target and leaves a run folder behind.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "harness/driver.hpp"
#include "harness/metrics/exporter.hpp"
#include "harness/report/read.hpp"
#include "harness/run/run_job.hpp"
#include "program/catalogue.hpp"
#include "program/resolved_target.hpp"

namespace lockmark::cli {

class agent_group;

struct run_request {
  config::job job;
  std::string scenario;        // name of the job, for tables
  std::filesystem::path runs;  // the parent of the run folder
  std::vector<std::string> arguments;
  std::function<void(const run::progress&)> on_progress;
  std::function<void(const std::string& sentence)> on_finding;  // a finding may spoil the run
  metrics::exporter* exporter = nullptr;  // shows the run while it goes on; or null
  bool history = false;                   // also write history.edn
  // Called once a second: true ends the run early, as if it were complete; or empty.
  std::function<bool(const run::live_view&)> is_enough{};
  // The load comes from these; null: from this machine.
  agent_group* from = nullptr;
};

struct executed {
  run::result result;
  report::recorded_run written;  // the contents of the run folder
  std::filesystem::path folder;
  bool ended_early = false;  // because of run_request::is_enough
};

// Throws usage_error, no_server or local::start_error if nothing was measured.
executed execute(const catalogue& known, resolved_target& where, run_request e);

// The lock that the job names, or the usual one of the target, which the job then names. Throws
// usage_error if it does not run there.
const lock_kind& lock_for(const catalogue& known, const resolved_target& where, config::job& job);

// The names of the run's keys, the same in every process of the run.
names names_of(const config::job& job, const std::string& run_id);

// The number of SIGINTs and SIGTERMs since the program began. The first call installs the handlers;
// a third signal ends the process at once.
const std::atomic<int>& interrupts();

// A result's exit status, as on the design page.
int exit_status(const run::result& r);

}  // namespace lockmark::cli
