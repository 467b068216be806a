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

// Not a pipe: what runs on in the background would keep it open.
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

pid_t start(const std::string& command, const unique_fd& output) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // Whoever calls may block or ignore signals; a command starts as from a terminal.
  sigset_t none, usual;
  sigemptyset(&none);
  sigfillset(&usual);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::string shell = "sh", option = "-c", text = command;
  char* const argv[] = {shell.data(), option.data(), text.data(), nullptr};
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
  const pid_t pid = start(command, output);
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
