// For tests of runs with real participants: a whole run in this process, which can disturb them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/run/participants/process_worker_pool.hpp"
#include "harness/run/run_job.hpp"
#include "program/test_program.hpp"

namespace lockmark::cli {

using interference = std::function<void(run::process_worker_pool&, const run::progress&)>;

struct apart {
  std::string lock;
  std::string job;     // YAML
  std::string target;  // a URL
  // Called five times a second, on the run controller's thread.
  interference each_glance{};
  // The URL of one participant's server; empty: the same for all.
  std::function<std::string(std::uint32_t)> target_of{};
  std::string program = LOCKMARK_BINARY;
  duration stuck_after = std::chrono::seconds{10};  // as in setup
};

// Runs to the end. Throws the exceptions of run_job.
run::result run_apart(const apart& what);

// The processes of this name with this parent, by their comm and stat in /proc.
std::vector<pid_t> children_named(const std::string& name, pid_t parent);
// The child of a process started with this as its one argument; 0: there is none.
pid_t child_called(const std::string& argument, pid_t parent);
// All descendants of this process.
std::vector<pid_t> all_below(pid_t ancestor);
// The processes that still exist after at most `limit`; zombies do not count.
std::vector<pid_t> still_there(std::vector<pid_t> all, duration limit);

}  // namespace lockmark::cli
