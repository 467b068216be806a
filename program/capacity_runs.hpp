// Makes the runs of `lockmark capacity` on one target, and returns the observations.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/capacity/objective.hpp"
#include "harness/capacity/observation.hpp"
#include "program/commands.hpp"
#include "program/execute.hpp"

namespace lockmark::cli {

// The study cannot continue, and its results so far are final: Ctrl-C, or two holders at once.
struct study_ended : std::runtime_error {
  int status;
  study_ended(const std::string& why, int exit_status)
      : std::runtime_error(why), status(exit_status) {}
};

class capacity_runs {
 public:
  capacity_runs(const context& c, resolved_target& where, std::string scenario,
                std::filesystem::path out, std::vector<capacity::objective> objectives, bool quiet,
                agent_group* from)
      : context_(c),
        where_(where),
        scenario_(std::move(scenario)),
        out_(std::move(out)),
        objectives_(std::move(objectives)),
        quiet_(quiet),
        from_(from) {}

  // Throws study_ended, usage_error, no_server.
  capacity::observation make(const config::job& job, const std::string& title);

 private:
  const context& context_;
  resolved_target& where_;
  std::string scenario_;
  std::filesystem::path out_;
  std::vector<capacity::objective> objectives_;
  bool quiet_;
  agent_group* from_;  // null: this machine carries the load
};

// A run's observation for these objectives.
capacity::observation observe(const run::result& r, const std::string& folder,
                              const std::vector<capacity::objective>& objectives);

}  // namespace lockmark::cli
