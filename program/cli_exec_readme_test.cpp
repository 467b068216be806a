// The lock client in drivers/exec/README.md, run with the commands from the READMEs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "deploy/local/cluster.hpp"
#include "drivers/exec/readme.hpp"
#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::AnyOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

// The line of a README that contains this text.
std::string line_with(const std::string& file, const std::string& text) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.find(text) != line.npos) return line;
  }
  ADD_FAILURE() << file << " has no line with " << text;
  return "";
}

class readme_commands : public testing::Test {
 protected:
  // Runs a line in the shell, in the program's folder; its first word is lockmark.
  ended shell(const std::string& line, duration limit = 90s) {
    const std::string words = line.substr(line.find(' '));
    const std::string all = fmt::format("cd {} && exec {}{} --out {} --quiet", client_.folder(),
                                        LOCKMARK_BINARY, words, (dir_ / "runs").string());
    return program({"/bin/sh", "-c", all}, dir_.path()).wait(limit);
  }

  const exec::readme_program client_{"python", "my_lock.py"};
  scratch dir_;
};

// On a real server, with renewals; and without one: an error sentence.
TEST_F(readme_commands, on_a_server_of_ones_own) {
  const local::cluster redis = local::cluster::start("redis");
  std::string line = line_with("drivers/exec/README.md", "--set options.server=redis://");
  const std::string example = "redis://127.0.0.1:6379";
  ASSERT_THAT(line, EndsWith(example));
  line.erase(line.size() - example.size());
  const std::string shorter =
      " --set warmup=0s --set floor=0s --set stop.samples=0 --set stop.duration=4s";
  // Renewed each second, two seconds before its lease would expire.
  const std::string renewed = " --set renew=true --set lease=3s --set hold=2500ms";
  const ended e = shell(line + redis.target() + shorter + renewed);
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.out << e.err;  // a busy machine's figures are not valid
  EXPECT_THAT(e.out, HasSubstr("verdict    held"));
  const auto counts = read_json(only_folder(dir_ / "runs") / "run.json")["counts"];
  EXPECT_GT(counts["renewals"], 0) << counts;
  const ended nowhere = shell(line.substr(0, line.find(" --set")) + shorter);
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_THAT(nowhere.err,
              AllOf(HasSubstr("exec:python3 my_lock.py: no server: --set options.server=redis:"),
                    Not(HasSubstr("Error"))));
}

TEST_F(readme_commands, of_faults_find_what_applies) {
  const std::string line =
      "lockmark faults work_outlives_lease --locks exec/lock --topologies redis ";
  const ended e = shell(line + "--set 'options.command=python3 my_lock.py'");
  EXPECT_EQ(e.status, 1) << e.out << e.err;
  EXPECT_THAT(e.out,
              HasSubstr("| exec/lock [command=python3 my_lock.py] | redis | **1/1 violated"));
  const ended without = shell(line);
  EXPECT_EQ(without.status, 2);
  EXPECT_THAT(without.err, HasSubstr("lock exec/lock needs a program: --set 'options.command="));
}

}  // namespace
}  // namespace lockmark::cli
