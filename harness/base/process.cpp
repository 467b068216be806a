#include "harness/base/process.hpp"

#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <limits>

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

std::uint64_t descriptor_limit() {
  rlimit limit{};
  const bool known = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return known ? limit.rlim_cur : std::numeric_limits<std::uint64_t>::max();
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::vector<std::filesystem::path> helper_places(const std::filesystem::path& program,
                                                 std::string_view name) {
  const std::filesystem::path folder = program.parent_path();
  const std::filesystem::path lib = folder.parent_path() / "lib";
  return {folder / name, lib / "lockmark" / name, lib / LOCKMARK_ARCHITECTURE / "lockmark" / name};
}

std::optional<std::filesystem::path> find_helper(std::string_view name) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  for (const std::filesystem::path& place : helper_places(program, name)) {
    if (std::filesystem::exists(place)) return place;
  }
  return std::nullopt;
}

}  // namespace lockmark
