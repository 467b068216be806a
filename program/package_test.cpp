// An installed lockmark: whole without the folder that it was built in, and with the manual page
// and the completions that it would print now.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

class installed : public testing::Test {
 protected:
  installed() {
    output_of({"cmake", "--install", LOCKMARK_BUILD, "--prefix", root_.string()}, dir_.path());
  }

  // The only file of that name below the root.
  fs::path file(const std::string& name) const {
    std::vector<fs::path> found;
    for (const auto& each : fs::recursive_directory_iterator(root_)) {
      if (each.path().filename() == name && each.is_regular_file()) found.push_back(each.path());
    }
    EXPECT_THAT(found, SizeIs(1)) << name;
    return found.empty() ? fs::path{} : found.front();
  }

  ended run_installed(std::vector<std::string> words) const {
    words.insert(words.begin(), (root_ / "bin" / "lockmark").string());
    return program(words, dir_.path()).wait(60s);
  }

  scratch dir_;
  const fs::path root_ = dir_ / "root";
};

// Nobody has to write them anew when an option is declared.
TEST_F(installed, describes_itself_as_it_is) {
  EXPECT_EQ(output_of({"zcat", file("lockmark.1.gz").string()}, dir_.path()),
            run(dir_.path(), {"man"}).out);
  const std::pair<const char*, fs::path> scripts[] = {
      {"bash", root_ / "share/bash-completion/completions/lockmark"},
      {"zsh", file("_lockmark")},
      {"fish", file("lockmark.fish")}};
  for (const auto& [shell, script] : scripts) {
    EXPECT_EQ(read_text(script), run(dir_.path(), {"completion", shell}).out) << shell;
  }
}

TEST_F(installed, has_documents_dashboards_and_rules) {
  EXPECT_EQ(output_of({"zcat", file("changelog.gz").string()}, dir_.path()),
            read_text("CHANGELOG.md"));
  EXPECT_EQ(read_text(file("README.md")), read_text("README.md"));
  for (const char* name : {"limits.md", "live.json", "METRICS.md", "alerts.yml", "rules.yml"}) {
    EXPECT_FALSE(read_text(file(name)).empty()) << name;
  }
  for (const char* name : {"Apache-2.0", "BSL-1.0", "BSD-3-Clause", "MIT"}) {
    EXPECT_THAT(read_text(file("copyright")), HasSubstr(fmt::format("\nLicense: {}\n ", name)));
  }
}

// A library that lockmark is built with has a row in the table, whose licences the package names.
TEST(libraries, are_all_in_the_table) {
  const std::string shell = read_text("deploy/shell.sh");
  const auto from = shell.find("build_packages=(");
  std::istringstream words(shell.substr(from, shell.find(')', from) - from));
  const std::string table = read_text("deploy/package/libraries.cmake");
  int count = 0;
  for (std::string word; words >> word;) {
    const bool is_library = word.starts_with("lib") || word.ends_with("-dev");
    const bool is_of_tests =
        word == "libgtest-dev" || word == "libgmock-dev" || word == "libbenchmark-dev";
    if (!is_library || is_of_tests) continue;
    EXPECT_THAT(table, HasSubstr(fmt::format("|{}|", word)));
    ++count;
  }
  EXPECT_GT(count, 10);
}

// The libraries that servers preload come along, and are named where they do not.
TEST_F(installed, finds_what_servers_preload) {
  const std::vector<std::string> jump{"run",        "contended",
                                      "--on",       "local:redis-independent",
                                      "--lock",     "redis/redlock",
                                      "--set",      "faults.1.do=jump_clock",
                                      "--set",      "faults.1.at=200ms",
                                      "--set",      "faults.1.who=server 3",
                                      "--set",      "faults.1.by=60s",
                                      "--set",      "warmup=0s",
                                      "--set",      "floor=0s",
                                      "--set",      "stop.samples=0",
                                      "--out",      (dir_ / "runs").string(),
                                      "--duration", "500ms"};
  const ended e = run_installed(jump);
  EXPECT_THAT(e.status, testing::AnyOf(0, 3)) << e.err;
  EXPECT_THAT(e.out, HasSubstr("the clock of server 3 jumped"));
  fs::remove(file("liblockmark_clock.so"));
  const ended without = run_installed(jump);
  EXPECT_EQ(without.status, 2);
  EXPECT_THAT(without.err, AllOf(HasSubstr("liblockmark_clock.so"), HasSubstr("beside lockmark")));
}

}  // namespace
}  // namespace lockmark::cli
