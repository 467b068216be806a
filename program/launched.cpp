#include "program/launched.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
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

// Whatever its size, nobody has to wait until it is read.
unique_fd memory_file(const std::string& text) {
  unique_fd file{memfd_create("lockmark", MFD_CLOEXEC)};
  std::size_t written = 0;
  while (file.get() >= 0 && written < text.size()) {
    const ssize_t n = write(file.get(), text.data() + written, text.size() - written);
    if (n <= 0) break;
    written += static_cast<std::size_t>(n);
  }
  if (file.get() < 0 || written < text.size() || lseek(file.get(), 0, SEEK_SET) != 0) {
    throw std::system_error(errno, std::generic_category(), "no memory for what agents are sent");
  }
  return file;
}

}  // namespace

launched::launched(std::string name, std::vector<std::string> words,
                   const std::map<std::string, std::string>& environment, const std::string& input)
    : name_(std::move(name)) {
  const unique_fd in = memory_file(input);
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
  dup2(in.get(), STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  execvpe(argv[0], argv.data(), envp.data());
  _exit(127);
}

bool launched::has_ended() {
  int status = 0;
  if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_.has_value();
}

bool launched::found_no_program() {
  return has_ended() && WIFEXITED(*status_) && WEXITSTATUS(*status_) == 127;
}

std::optional<std::string> launched::failed() {
  if (!has_ended() || status_ == 0) return std::nullopt;
  if (found_no_program()) return fmt::format("{} could not be executed", name_);
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
