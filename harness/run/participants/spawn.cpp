#include "harness/run/participants/spawn.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace lockmark::run {
namespace {

constexpr int effect_within_ms = 200;

[[noreturn]] void fail_to_spawn(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

struct passed_on {
  const char* program;
  pid_t parent;
  int control, common_memory, own_memory;
};

// Between fork and exec: system calls only, because the process had other threads.
[[noreturn]] void become(const passed_on& what) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != what.parent) _exit(127);  // the parent died before this took effect
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  // Moves the descriptors out of the way of their target numbers.
  const int control = fcntl(what.control, F_DUPFD, own_memory_fd + 1);
  const int common = fcntl(what.common_memory, F_DUPFD, own_memory_fd + 1);
  const int own = fcntl(what.own_memory, F_DUPFD, own_memory_fd + 1);
  close_range(control_fd, ~0U, CLOSE_RANGE_CLOEXEC);
  dup2(control, control_fd);
  dup2(common, common_memory_fd);
  dup2(own, own_memory_fd);
  char name[] = "lockmark";
  char command[] = "participant";
  char* argv[] = {name, command, nullptr};
  execv(what.program, argv);
  _exit(127);
}

}  // namespace

participant_process::participant_process(const std::string& program, int common_memory,
                                         int own_memory) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    fail_to_spawn("no socket to a participant");
  }
  control_ = unique_fd{ends[0]};
  const unique_fd theirs{ends[1]};
  const passed_on what{program.c_str(), getpid(), theirs.get(), common_memory, own_memory};
  pid_ = fork();
  if (pid_ < 0) fail_to_spawn("no process for a participant");
  if (pid_ == 0) become(what);
  ended_ = unique_fd{static_cast<int>(syscall(SYS_pidfd_open, pid_, 0))};
}

participant_process::~participant_process() {
  if (status_) return;
  ::kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

std::optional<int> participant_process::status() {
  int status = 0;
  if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_;
}

void participant_process::kill() {
  if (status_) return;
  ::kill(pid_, SIGKILL);
  pollfd watched{ended_.get(), POLLIN, 0};
  poll(&watched, 1, effect_within_ms);
}

void participant_process::pause() {
  if (status_) return;
  ::kill(pid_, SIGSTOP);
  for (int ms = 0; ms < effect_within_ms; ++ms) {
    siginfo_t about{};
    const auto id = static_cast<id_t>(pid_);
    waitid(P_PID, id, &about, WSTOPPED | WEXITED | WNOHANG | WNOWAIT);
    if (about.si_pid == pid_) return;
    poll(nullptr, 0, 1);
  }
}

void participant_process::resume() {
  if (!status_) ::kill(pid_, SIGCONT);
}

}  // namespace lockmark::run
