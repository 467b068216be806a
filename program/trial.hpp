// One run of a shipped job on servers of its own, as catalogues and claims need it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/report/read.hpp"
#include "program/commands.hpp"

namespace lockmark::cli {

struct trial {
  std::string title;             // for people: "holder_killed redis/lua on redis"
  std::string job;               // "faults/holder_killed"
  std::string topology;          // "redis-sentinel"
  std::string query;             // added to the target: "writers=all"; or empty
  std::vector<std::string> set;  // KEY=VALUE, the lock among them
};

// The setting that makes a repetition (from 0) one: what is compared meets the same arrivals, holds
// and chances, and each repetition others.
std::string seed_of(std::uint64_t repetition);

// Fresh servers each time: what a fault has done to the last ones shall not be in it. Throws
// usage_error, no_server, local::start_error.
report::recorded_run run_trial(const context& c, const trial& t, const std::filesystem::path& out,
                               bool quiet);

}  // namespace lockmark::cli
