#include "harness/base/process.hpp"

#include <fmt/core.h>
#include <sys/wait.h>

#include <csignal>

namespace lockmark {

void restore_signals() {
  for (int number = 1; number < SIGRTMIN; ++number) std::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

std::string describe_status(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    return fmt::format("was killed by signal {}", WTERMSIG(wait_status));
  }
  return fmt::format("ended with exit status {}", WEXITSTATUS(wait_status));
}

}  // namespace lockmark
