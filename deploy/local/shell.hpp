// Runs a shell command to completion, with a time limit.
#pragma once

#include <string>

#include "harness/time/clock.hpp"

namespace lockmark::local {

struct ran {
  int status = -1;  // exit status, or 128 + the signal that ended it
  bool in_time = true;
  std::string output;  // the end of both output streams, without the last newline
};

// Runs under /bin/sh, without the command in its arguments, in a process group of its own, with
// empty input. After the limit the whole group is killed. Background processes live on. Throws
// start_error if no process can be made.
ran run_shell(const std::string& command, duration time_limit);

}  // namespace lockmark::local
