// Common to the tests with agents: how a coordinator and its agents are started.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "program/test_program.hpp"

namespace lockmark::cli {

// lockmark run contended with so many agents, for 3 s, unless `more` says else. Run folders are in
// `runs`, the invitation in the file `invitation`, of the scratch directory.
program start_coordinator(const scratch& dir, const std::string& target, int agents,
                          std::vector<std::string> more = {},
                          const std::string& invitation = "invitation");

// ADDRESS:PORT, once it has said so; empty, and a failure, if it does not.
std::string address_of(const program& coordinator);

// The command line of an agent of this coordinator, or of the one at this address.
std::vector<std::string> agent_command(const scratch& dir, const program& coordinator,
                                       const std::string& name);
std::vector<std::string> agent_command(const scratch& dir, const std::string& join,
                                       const std::string& name);

// The processes that it has started and that still run.
std::vector<pid_t> children_of(pid_t parent);

}  // namespace lockmark::cli
