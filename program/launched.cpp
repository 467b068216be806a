#include "program/launched.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "harness/base/process.hpp"
#include "harness/unique_fd.hpp"

namespace lockmark::cli {
namespace {

constexpr int end_within_ms = 2'000;
constexpr int end_by_themselves_ms = 5'000;
constexpr int look_every_ms = 10;

template <class Condition>
bool within(int limit_ms, Condition holds) {
  for (int ms = 0; !holds(); ms += look_every_ms) {
    if (ms >= limit_ms) return false;
    poll(nullptr, 0, look_every_ms);
  }
  return true;
}

// Null-terminated, as exec wants it.
std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& w : words) all.push_back(w.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& more) {
  std::vector<std::string> all;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view one = *e;
    if (!more.contains(std::string(one.substr(0, one.find('='))))) all.emplace_back(one);
  }
  for (const auto& [name, value] : more) all.push_back(fmt::format("{}={}", name, value));
  return all;
}

}  // namespace

launched::launched(std::string name, std::vector<std::string> words,
                   const std::map<std::string, std::string>& environment, const std::string& input)
    : name_(std::move(name)) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "no pipe to a launched program");
  }
  const unique_fd out{ends[0]}, in{ends[1]};
  // The pipe has room for all of it.
  if (write(in.get(), input.data(), input.size()) != static_cast<ssize_t>(input.size())) {
    throw std::system_error(errno, std::generic_category(), "no room in a pipe");
  }
  auto variables = environment_with(environment);
  const auto argv = pointers(words), envp = pointers(variables);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) {
    throw std::system_error(errno, std::generic_category(), "no process to launch agents");
  }
  if (pid_ > 0) return;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  restore_signals();
  dup2(out.get(), STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  execvpe(argv[0], argv.data(), envp.data());
  _exit(127);
}

bool launched::has_ended() {
  int status = 0;
  if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_.has_value();
}

std::optional<std::string> launched::failed() {
  if (!has_ended() || status_ == 0) return std::nullopt;
  if (WIFEXITED(*status_) && WEXITSTATUS(*status_) == 127) {
    return fmt::format("{} could not be executed", name_);
  }
  return fmt::format("{} {}", name_, describe_status(*status_));
}

launched::~launched() {
  if (has_ended()) return;
  kill(-pid_, SIGTERM);
  if (within(end_within_ms, [this] { return has_ended(); })) return;
  kill(-pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void wait_for(const std::vector<std::unique_ptr<launched>>& all) {
  within(end_by_themselves_ms, [&] {
    return std::ranges::all_of(all, [](const auto& one) { return one->has_ended(); });
  });
}

}  // namespace lockmark::cli
