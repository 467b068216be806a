#include "deploy/local/shell.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "deploy/local/error.hpp"
#include "deploy/local/process.hpp"

extern char** environ;  // NOLINT: POSIX has no header for it

namespace lockmark::local {
namespace {

constexpr off_t most_output = 2000;
constexpr int script_fd = 9;  // above those that a script expects to be free, and one digit

// Not a pipe: background processes would keep it open.
std::string end_of(const unique_fd& file) {
  struct stat known {};
  fstat(file.get(), &known);
  std::string text(static_cast<std::size_t>(std::min<off_t>(known.st_size, most_output)), '\0');
  const auto from = known.st_size - static_cast<off_t>(text.size());
  const ssize_t got = pread(file.get(), text.data(), text.size(), from);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// The command as a file that only this process and its children can open: as an argument of the
// shell it would be readable by every user.
unique_fd script_of(const std::string& command) {
  unique_fd script{memfd_create("command", MFD_CLOEXEC)};
  // First closes the descriptor through which the script was opened.
  const std::string text = fmt::format("exec {}<&-; {}\n", script_fd, command);
  const auto size = static_cast<ssize_t>(text.size());
  if (!script || write(script.get(), text.data(), text.size()) != size) {
    throw start_error(fmt::format("no command for /bin/sh: {}", strerror(errno)));
  }
  return script;
}

pid_t start_shell(const unique_fd& script, const unique_fd& output) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output.get(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&files, script.get(), script_fd);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // The caller may block or ignore signals; the command starts with the defaults, as in a terminal.
  sigset_t none, usual;
  sigemptyset(&none);
  sigfillset(&usual);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::string shell = "sh", file = fmt::format("/dev/fd/{}", script_fd);
  char* const argv[] = {shell.data(), file.data(), nullptr};
  pid_t pid = -1;
  const int error = posix_spawn(&pid, "/bin/sh", &files, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw start_error(fmt::format("no process for /bin/sh: {}", strerror(error)));
  return pid;
}

}  // namespace

ran run_shell(const std::string& command, duration time_limit) {
  const unique_fd output{memfd_create("output", MFD_CLOEXEC)};
  if (!output) throw start_error(fmt::format("no output for /bin/sh: {}", strerror(errno)));
  const pid_t pid = start_shell(script_of(command), output);
  ran result;
  result.in_time = wait_until_ended(pid, time_limit);
  if (!result.in_time) kill(-pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.output = end_of(output);
  return result;
}

}  // namespace lockmark::local
