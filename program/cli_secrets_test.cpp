// Passwords must not be visible during a run: in any process's `ps` output, or in the environment
// of child processes. Files and messages: cli_test.cpp.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "deploy/local/cluster.hpp"
#include "harness/config/target.hpp"
#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::IsEmpty;

bool is_number(const std::string& text) {
  return text.find_first_not_of("0123456789") == std::string::npos;
}

// The command lines that contain the text, except those that contain `exempt`.
std::vector<std::string> processes_showing(const std::string& text, const std::string& exempt) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    if (!is_number(entry.path().filename().string())) continue;
    std::string line;
    try {
      line = read_text(entry.path() / "cmdline");
    } catch (const std::exception&) {
      continue;  // the process has just ended
    }
    if (line.find(exempt) != std::string::npos) continue;
    if (line.find(text) != std::string::npos) found.push_back(line);
  }
  return found;
}

TEST(secrets, show_in_no_command_line) {
  const scratch dir;
  const local::cluster cluster = local::cluster::start("mysql");
  const config::target right = *config::parse_target(cluster.target());
  ASSERT_FALSE(right.password.empty());
  program p(lockmark({"run", "contended", "--on", cluster.target(), "--out",
                      (dir / "runs").string(), "--set", "stop.duration=2s", "--set", "floor=0s"}),
            dir.path());
  ASSERT_TRUE(p.says("measuring")) << p.err();
  EXPECT_THAT(processes_showing(right.password, "cli_test"), IsEmpty());
  EXPECT_THAT(p.wait(std::chrono::seconds{30}).status, AnyOf(0, 3));
}

// The URL names the file with the password, and all output contains only that name.
TEST(secrets, are_read_from_a_file) {
  const scratch dir;
  const local::cluster cluster = local::cluster::start("mysql");
  const config::target right = *config::parse_target(cluster.target());
  const fs::path secret = dir / "password";
  std::ofstream(secret) << right.password << "\n";
  const std::string url = fmt::format("mysql://{}@127.0.0.1:{}/{}?password-file={}", right.user,
                                      right.hosts.at(0).port, right.path, secret.string());
  const ended e =
      run(dir.path(), {"run", "contended", "--on", url, "--out", (dir / "runs").string(), "--set",
                       "stop.duration=300ms", "--set", "stop.samples=0", "--set", "floor=0s"});
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.err;
  EXPECT_THAT(files_with(dir / "runs", right.password), IsEmpty());
}

}  // namespace
}  // namespace lockmark::cli
