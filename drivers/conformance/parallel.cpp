// Runs the cases of a test program in several processes at a time.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/conformance/conformance.hpp"

namespace lockmark::conformance {
namespace {

// The destination of result files; empty if there are none.
std::string_view wanted_output() {
  const char* const wanted = std::getenv("GTEST_OUTPUT");
  return wanted == nullptr ? "" : wanted;
}

// Whether the user asks for particular cases, a particular order, or another form of output.
bool is_asked_for_more(int argc) {
  if (argc > 1) return true;
  for (const char* name : {"GTEST_FILTER", "GTEST_TOTAL_SHARDS", "GTEST_REPEAT", "GTEST_SHUFFLE",
                           "GTEST_BREAK_ON_FAILURE", "GTEST_FAIL_FAST"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  const std::string_view output = wanted_output();
  return !output.empty() && !(output.starts_with("xml:") && output.ends_with("/"));
}

int run_here(int argc, char** argv, const std::function<void()>& add_all) {
  testing::InitGoogleTest(&argc, argv);
  add_all();
  return RUN_ALL_TESTS();
}

// One process and its output, which is shown line by line.
struct worker {
  int number;
  pid_t pid;
  int output;
  std::string unfinished{};

  void show(std::string_view bytes) {
    unfinished += bytes;
    std::size_t begin = 0;
    for (auto end = unfinished.find('\n'); end != std::string::npos;
         end = unfinished.find('\n', begin)) {
      show_line(std::string_view{unfinished}.substr(begin, end - begin));
      begin = end + 1;
    }
    unfinished.erase(0, begin);
  }

  void show_line(std::string_view line) const {
    fmt::print("{}| {}\n", number, line);
    std::fflush(stdout);
  }
};

// The body of the forked process; never returns.
[[noreturn]] void be_worker(int number, int at_once, int output, int argc, char** argv,
                            const std::function<void()>& add_all) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  setenv("GTEST_TOTAL_SHARDS", fmt::format("{}", at_once).c_str(), 1);
  setenv("GTEST_SHARD_INDEX", fmt::format("{}", number).c_str(), 1);
  if (!wanted_output().empty()) {
    const auto program = std::filesystem::path{argv[0]}.filename().string();
    // The variable itself was read before main().
    GTEST_FLAG_SET(output, fmt::format("{}{}-{}.xml", wanted_output(), program, number));
  }
  std::exit(run_here(argc, argv, add_all));
}

worker start(int number, int at_once, int argc, char** argv, const std::function<void()>& add_all) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("no process");
  if (pid == 0) be_worker(number, at_once, ends[1], argc, argv, add_all);
  close(ends[1]);
  return {number, pid, ends[0]};
}

// Shows the workers' output until all of them have closed their ends.
void show_all(std::vector<worker>& workers) {
  std::vector<pollfd> open;
  for (const worker& w : workers) open.push_back({w.output, POLLIN, 0});
  std::size_t left = workers.size();
  std::array<char, 4096> room{};
  while (left > 0) {
    if (poll(open.data(), open.size(), -1) < 0) continue;
    for (std::size_t n = 0; n < open.size(); ++n) {
      if (open[n].revents == 0) continue;
      const auto size = read(open[n].fd, room.data(), room.size());
      if (size > 0) {
        workers[n].show({room.data(), static_cast<std::size_t>(size)});
        continue;
      }
      if (!workers[n].unfinished.empty()) workers[n].show("\n");
      close(open[n].fd);
      open[n].fd = -1;  // poll() skips it
      --left;
    }
  }
}

// Whether every worker succeeded; reports each that did not.
bool all_passed(const std::vector<worker>& workers) {
  bool passed = true;
  for (const worker& w : workers) {
    int status = 0;
    waitpid(w.pid, &status, 0);
    if (status == 0) continue;
    passed = false;
    w.show_line(WIFSIGNALED(status) ? fmt::format("killed by signal {}", WTERMSIG(status))
                                    : fmt::format("exit status {}", WEXITSTATUS(status)));
  }
  return passed;
}

}  // namespace

int run_tests(int argc, char** argv, const std::function<void()>& add_all, int at_once) {
  if (is_asked_for_more(argc)) return run_here(argc, argv, add_all);
  std::vector<worker> workers;
  for (int n = 0; n < at_once; ++n) workers.push_back(start(n, at_once, argc, argv, add_all));
  show_all(workers);
  return all_passed(workers) ? 0 : 1;
}

}  // namespace lockmark::conformance
