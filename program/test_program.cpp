#include "program/test_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "deploy/local/process.hpp"
#include "harness/base/files.hpp"

extern char** environ;  // NOLINT: POSIX has no header for it

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

std::vector<std::string> environment_in(const fs::path& where) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("XDG_RUNTIME_DIR=")) all.emplace_back(*entry);
  }
  all.push_back(fmt::format("XDG_RUNTIME_DIR={}", where.string()));
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> all;
  for (std::string& s : strings) all.push_back(s.data());
  all.push_back(nullptr);
  return all;
}

// A new file for a process's output; a number makes it unique.
fs::path fresh(const fs::path& where, std::string_view name) {
  for (int n = 0;; ++n) {
    const fs::path file = where / fmt::format("{}.{}", name, n);
    if (!fs::exists(file)) return file;
  }
}

}  // namespace

scratch::scratch() {
  std::string pattern = (fs::temp_directory_path() / "lm_cli_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no scratch directory");
  path_ = pattern;
}

scratch::~scratch() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

program::program(const std::vector<std::string>& argv, const fs::path& where)
    : out_(fresh(where, "stdout")), err_(fresh(where, "stderr")) {
  std::vector<std::string> words = argv;
  std::vector<std::string> variables = environment_in(where);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr int write = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, out_.c_str(), write, 0600);
  posix_spawn_file_actions_addopen(&files, 2, err_.c_str(), write, 0600);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int error = posix_spawn(&pid_, argv.at(0).c_str(), &files, &attributes,
                                pointers(words).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::runtime_error(fmt::format("cannot start {}", argv.at(0)));
}

program::~program() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::string program::out() const {
  return read_text(out_);
}
std::string program::err() const {
  return read_text(err_);
}
void program::signal(int number) const {
  kill(pid_, number);
}

bool program::says(std::string_view text, int times) const {
  const auto said = [&] {
    const std::string all = err();
    int count = 0;
    for (auto at = all.find(text); at != all.npos; at = all.find(text, at + 1)) ++count;
    return count >= times;
  };
  const time_point deadline = real_clock{}.now() + 60s;
  while (real_clock{}.now() < deadline) {
    const bool over = local::wait_until_ended(pid_, 0s);
    if (said()) return true;
    if (over) return false;
    poll(nullptr, 0, 5);
  }
  return false;
}

ended program::wait(duration limit) {
  const bool in_time = local::wait_until_ended(pid_, limit);
  EXPECT_TRUE(in_time) << "still running after its deadline; it said: " << err();
  if (!in_time) kill(pid_, SIGKILL);
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), out(), err()};
}

std::vector<std::string> lockmark(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), LOCKMARK_BINARY);
  return arguments;
}

ended run(const fs::path& where, std::vector<std::string> arguments, duration limit) {
  return program(lockmark(std::move(arguments)), where).wait(limit);
}

std::string output_of(std::vector<std::string> argv, const fs::path& where) {
  argv[0] = local::find_program(argv[0], argv[0]);
  const ended e = program(argv, where).wait(120s);
  EXPECT_EQ(e.status, 0) << argv[0] << ": " << e.out << e.err;
  return e.out;
}

fs::path only_folder(const fs::path& runs) {
  std::vector<fs::path> all;
  if (fs::exists(runs)) {
    for (const auto& entry : fs::directory_iterator(runs)) {
      if (entry.is_directory()) all.push_back(entry.path());
    }
  }
  EXPECT_EQ(all.size(), 1u) << "run folders in " << runs;
  return all.size() == 1 ? all[0] : fs::path();
}

std::string read_text(const fs::path& file) {
  return readable_text(file);
}

nlohmann::json read_json(const fs::path& file) {
  const auto value = nlohmann::json::parse(read_text(file), nullptr, false);
  EXPECT_FALSE(value.is_discarded()) << file << " is not JSON";
  return value.is_discarded() ? nlohmann::json::object() : value;
}

nlohmann::json marks_but_stalls(const nlohmann::json& run) {
  nlohmann::json left = nlohmann::json::array();
  for (const auto& mark : run.at("marks")) {
    const std::string kind = mark.at("kind");
    if (kind != "stood_still" && kind != "machine_suspended") left.push_back(mark);
  }
  return left;
}

std::vector<std::string> files_with(const fs::path& below, std::string_view text) {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(below)) {
    if (!entry.is_regular_file()) continue;
    if (read_text(entry.path()).find(text) != std::string::npos) found.push_back(entry.path());
  }
  return found;
}

}  // namespace lockmark::cli
