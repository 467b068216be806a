#include "drivers/exec/guard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "harness/base/process.hpp"

namespace lockmark::exec {
namespace {

void say(const char* text) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void become(const guarded& what, pid_t guard) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != guard) _exit(127);  // the guard died before prctl took effect
  dup2(what.in, STDIN_FILENO);
  dup2(what.out, STDOUT_FILENO);
  dup2(what.err, STDERR_FILENO);
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  execvp(what.argv[0], what.argv);
  say("cannot execute ");
  say(what.argv[0]);
  say(errno == ENOENT ? ": there is no such program\n" : ": not allowed, or not a program\n");
  _exit(127);
}

// The guard must not hold open descriptors whose closing others wait for. It has no standard
// output: what a runtime library still flushes there at its end must not reach the program's input.
int drop_all_but(int life, int feed) {
  const int kept = fcntl(feed, F_DUPFD, 4);  // neither of the two may be overwritten by the other
  dup2(life, STDIN_FILENO);
  dup2(kept, 3);
  close_range(1, 2, 0);
  close_range(4, ~0U, 0);
  return STDIN_FILENO;
}

// Forwards the parent's signals; false once the parent has gone.
bool obey(int life, pid_t group) {
  unsigned char number = 0;
  const auto got = read(life, &number, 1);
  if (got < 0) return true;
  kill(-group, got == 1 ? number : SIGKILL);
  return got == 1;
}

// Ends with the program's exit status or signal.
[[noreturn]] void end_like(int status) {
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  kill(getpid(), WTERMSIG(status));
  _exit(127);
}

}  // namespace

void be_guard(const guarded& what) {
  setpgid(0, 0);
  prctl(PR_SET_NAME, "lockmark-guard");
  restore_signals();
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans of the program become our children
  const pid_t guard = getpid();
  const pid_t program = fork();
  if (program == 0) become(what, guard);
  if (program < 0) _exit(127);
  setpgid(program, program);  // also here, so that the group exists whichever side runs first
  const int life = drop_all_but(what.life, what.feed);
  pollfd watched[2] = {{life, POLLIN, 0},
                       {static_cast<int>(syscall(SYS_pidfd_open, program, 0)), POLLIN, 0}};
  while (watched[1].revents == 0) {
    if (poll(watched, 2, -1) < 0) continue;
    if (watched[0].revents != 0 && !obey(life, program)) watched[0].fd = -1;
  }
  // Before the program is reaped, so that the group's number cannot have been reused.
  kill(-program, SIGKILL);
  int status = 0;
  while (waitpid(program, &status, 0) < 0 && errno == EINTR) continue;
  while (waitpid(-program, nullptr, 0) > 0 || errno == EINTR) continue;
  end_like(status);
}

}  // namespace lockmark::exec
