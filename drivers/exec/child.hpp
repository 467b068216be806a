// A program that runs as a child, in a process group of its own, and never outlives its parent.
//
//   lockmark ---- socket ---- guard ---- the program (and what it starts, in its group)
//
// The guard is a fork of this process that only waits. When this process ends in whatever way, the
// kernel closes its end of the socket and the guard kills the whole group; if the guard dies, the
// kernel kills the program (PR_SET_PDEATHSIG, which is tied to a thread and therefore not used
// between lockmark and the guard). Knows no protocol and no event loop: its descriptors can be
// watched, and nothing here blocks, except the destructor, which waits for the processes it kills.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/unique_fd.hpp"

namespace lockmark::exec {

class child {
 public:
  // Starts argv[0], looked up in PATH. If the program cannot be executed, the child writes so to
  // its standard error and ends with status 127. Callable from any thread. Throws std::system_error
  // if the system has no process or descriptor left.
  explicit child(const std::vector<std::string>& argv);
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  // Kills what is still running, and reaps it.
  ~child();

  // Non-blocking descriptors: the program's input, its two outputs, and one that becomes readable
  // when all of it has ended.
  int in() const { return in_.get(); }
  int out() const { return out_.get(); }
  int err() const { return err_.get(); }
  int ended() const { return ended_.get(); }

  // Writes as much as it can without waiting and returns the number of bytes; -1 if there is no
  // reader any more.
  long write_now(const char* bytes, std::size_t size);
  // Reads up to `size` bytes of out() or err(); 0 at the end, -1 if there is nothing yet.
  static long read_now(int fd, char* room, std::size_t size);

  // Ends the program's input.
  void close_in();
  // Sends a signal to the program and everything it has started.
  void signal_all(int number);

  // The status as waitpid gives it; none while it runs.
  std::optional<int> status();
  pid_t guard() const { return guard_; }

 private:
  unique_fd in_;
  unique_fd out_;
  unique_fd err_;
  unique_fd life_;  // closing it kills the group
  unique_fd ended_;
  pid_t guard_ = 0;
  std::optional<int> status_;
};

}  // namespace lockmark::exec
