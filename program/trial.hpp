// One run of a shipped job on servers of its own, for catalogues and claims.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/report/read.hpp"
#include "program/commands.hpp"

namespace lockmark::cli {

struct trial {
  std::string title;             // for display: "holder_killed redis/lua on redis"
  std::string job;               // "faults/holder_killed"
  std::string topology;          // "redis-sentinel"
  std::string query;             // added to the target: "writers=all"; or empty
  std::vector<std::string> set;  // KEY=VALUE, the lock among them
};

// The setting that distinguishes repetitions (from 0): compared runs get the same arrivals, holds
// and random choices, each repetition different ones.
std::string seed_of(std::uint64_t repetition);

// Settings by which all faults of a job come later by the same time, from none in the first run to
// half a second: at a fixed time they would always meet the same beat of sessions, ticks and
// leases. No longer, because some follow the holds of their job.
std::vector<std::string> phase_of(const std::string& job, std::uint64_t repetition);

// Fresh servers each time, so that faults of earlier runs have no effect. Throws usage_error,
// no_server, local::start_error.
report::recorded_run run_trial(const context& c, const trial& t, const std::filesystem::path& out,
                               bool quiet);

}  // namespace lockmark::cli
