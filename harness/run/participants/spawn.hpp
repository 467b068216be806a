// A participant as a process: started, watched, signalled, reaped. Knows nothing about its work.
//
// It is lockmark itself, exec'ed in a process group of its own, so that a terminal's Ctrl-C does
// not reach it. When the thread that started it ends, for whatever reason, the kernel kills it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "harness/time/clock.hpp"
#include "harness/unique_fd.hpp"

namespace lockmark::run {

// Descriptor numbers in the new process.
inline constexpr int control_fd = 3;
inline constexpr int common_memory_fd = 4;
inline constexpr int own_memory_fd = 5;

class participant_process {
 public:
  // Executes `program participant`. Throws std::system_error when the system has no process or
  // descriptor left; if the program cannot be executed, the process exits with status 127.
  participant_process(const std::string& program, int common_memory, int own_memory);
  participant_process(const participant_process&) = delete;
  participant_process& operator=(const participant_process&) = delete;
  // Kills the process if it is still running, and reaps it.
  ~participant_process();

  pid_t pid() const { return pid_; }
  // This side of its control_fd, a socket.
  int control() const { return control_.get(); }
  // Readable once it has ended.
  int ended_fd() const { return ended_.get(); }

  // Its status as waitpid gives it, once it has ended; reaps it. Does not wait.
  std::optional<int> status();
  // Sends SIGKILL and waits until it has taken effect, 200 ms at most.
  void kill();
  // The same with SIGSTOP.
  void pause();
  void resume();

 private:
  pid_t pid_ = 0;
  unique_fd control_;
  unique_fd ended_;
  std::optional<int> status_;
};

}  // namespace lockmark::run
