// Runs a command of the shell to its end, for a limited time.
#pragma once

#include <string>

#include "harness/time/clock.hpp"

namespace lockmark::local {

struct ran {
  int status = -1;  // exit status, or 128 + the signal that ended it
  bool in_time = true;
  std::string output;  // the last of what it said on both streams, without the newline at its end
};

// By /bin/sh, which shows nobody the command among its arguments, in a process group of its own,
// with empty input. What has not ended within the limit is killed, with all of its group. What it
// leaves in the background lives on. Throws start_error where no process can be made.
ran run_shell(const std::string& command, duration time_limit);

}  // namespace lockmark::local
