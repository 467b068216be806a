// For tests of runs with real participants: a whole run in this process, which may hurt them.
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
  // Where one of the participants finds its server; empty: as all.
  std::function<std::string(std::uint32_t)> target_of{};
  std::string program = LOCKMARK_BINARY;
  duration stuck_after = std::chrono::seconds{10};  // as in setup
};

// Runs to the end; Throws what run_job throws.
run::result run_apart(const apart& what);

// The processes of this name whose parent is `parent`, by their comm and stat in /proc.
std::vector<pid_t> children_named(const std::string& name, pid_t parent);
// The child of a process that was started with this as its one argument; 0: there is none.
pid_t child_called(const std::string& argument, pid_t parent);
// All processes below this one.
std::vector<pid_t> all_below(pid_t ancestor);
// Which of these processes are still there after at most `limit`, zombies not counted.
std::vector<pid_t> still_there(std::vector<pid_t> all, duration limit);

}  // namespace lockmark::cli
