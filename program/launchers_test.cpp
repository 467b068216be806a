// The command lines of docs/many-machines.md that start agents, on three hosts of this machine: by
// ssh, by Open MPI and by Slurm. And what is said when a launcher fails. Needs their programs; part
// of ./check --launchers only.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>

#include "deploy/local/ask.hpp"
#include "deploy/local/cluster.hpp"
#include "deploy/local/process.hpp"
#include "program/test_launchers.hpp"
#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

constexpr const char* page = LOCKMARK_SOURCE "/docs/many-machines.md";

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

// The command line of the page that has this in it, without its line breaks.
std::string documented(const std::string& part) {
  std::string text = read_text(page);
  replace_all(text, "\\\n", "");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("lockmark run ") && line.find(part) != line.npos) return line;
  }
  ADD_FAILURE() << page << " has no command with " << part;
  return {};
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> all;
  for (const auto& each : fs::directory_iterator(folder)) all.push_back(each.path().filename());
  return all;
}

class launchers : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    redis = std::make_unique<local::cluster>(local::cluster::start("redis"));
    ssh = std::make_unique<local::cluster>(local::cluster::start(ssh_hosts()));
  }
  static void TearDownTestSuite() {
    ssh.reset();
    redis.reset();
  }
  void SetUp() override {
    fs::create_directory(work_);
    fs::create_directory(dir_ / "tmp");
  }

  // In a folder of its own, as a user types it; the servers are the test's, and so is their
  // network.
  ended run_documented(std::string command, const std::string& variables = {}) {
    for (const char* url : {"redis://127.0.0.1:6379", "URL"}) {
      replace_all(command, url, redis->target());
    }
    replace_all(command, "10.0.0.5", "127.0.0.1");
    std::ofstream(dir_ / "script") << fmt::format(
        "cd {} && export PATH={}/sshd:{}:$PATH TMPDIR={}/tmp {}\n{} --duration 2s --set floor=0s\n",
        work_.string(), ssh->directory(), fs::path(LOCKMARK_BINARY).parent_path().string(),
        dir_.path().string(), variables, command);
    return program({"/bin/sh", (dir_ / "script").string()}, dir_.path()).wait(120s);
  }

  // The lock held, on all three, and nothing stays on any of them.
  void expect_a_run_of_three(const ended& e) {
    EXPECT_THAT(e.status, AnyOf(0, 3)) << e.out << e.err;  // a busy machine's figures are not valid
    EXPECT_THAT(names_in(work_), ElementsAre("runs"));
    const auto r = read_json(only_folder(work_ / "runs") / "run.json");
    EXPECT_EQ(r["run"]["status"], "complete");
    EXPECT_EQ(r["verdict"]["held"], true) << e.out;
    EXPECT_EQ(r["hosts"].size(), 3U);
    for (const auto& h : r["hosts"]) {
      EXPECT_EQ(h["lost"], false);
      EXPECT_FALSE(h["participants"].empty());
      EXPECT_GT(h["clock"]["exchanges"].get<int>(), 0);
    }
    expect_nobody_left();
    for (const auto& session : fs::directory_iterator(sessions())) {
      EXPECT_THAT(names_in(session.path()), IsEmpty());
    }
  }
  void expect_nobody_left() {
    for (const fs::path& place : {work_, sessions()}) {
      EXPECT_TRUE(local::eventually([&] { return local::processes_in(place).empty(); })) << place;
    }
  }
  // lockmark has the last word, in one sentence that ends so.
  void expect_refusal(const std::string& command, const std::string& end,
                      const std::string& variables = {}) {
    const ended e = run_documented(command, variables);
    EXPECT_EQ(e.status, 2) << e.out << e.err;
    std::string last;
    std::istringstream lines(e.err);
    for (std::string line; std::getline(lines, line);) last = line;
    EXPECT_THAT(last, MatchesRegex("lockmark: --agents: 0 of [123] agents joined "
                                   "127\\.0\\.0\\.1:[0-9]+; " +
                                   end));
    EXPECT_THAT(names_in(work_), IsEmpty());
    expect_nobody_left();
  }
  static fs::path sessions() { return sessions_of(ssh->directory()); }

  static std::unique_ptr<local::cluster> redis, ssh;
  scratch dir_;
  const fs::path work_ = dir_ / "work";
};
std::unique_ptr<local::cluster> launchers::redis, launchers::ssh;

// Open MPI refuses to run as root unless it is told twice.
constexpr const char* mpi_as_root = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1";

TEST_F(launchers, ssh_starts_agents) {
  expect_a_run_of_three(run_documented(documented("--hosts h1,h2,h3")));
}

TEST_F(launchers, ssh_brings_lockmark_along) {
  expect_a_run_of_three(run_documented(documented("--send-binary")));
}

TEST_F(launchers, a_host_without_lockmark_is_told) {
  expect_refusal(
      "lockmark run contended --on URL --listen 10.0.0.5:0 --hosts h1 --remote-program no-lockmark",
      "a host has no no-lockmark on its PATH; --remote-program says where it is, --send-binary "
      "brings it along");
}

// Which itself reaches the hosts by ssh.
TEST_F(launchers, open_mpi_starts_agents) {
  local::find_program("mpirun", "openmpi-bin");
  expect_a_run_of_three(run_documented(documented("mpirun"), mpi_as_root));
}

TEST_F(launchers, slurm_starts_agents) {
  const auto slurm = local::cluster::start(slurm_nodes());
  const std::string variables =
      fmt::format("SLURM_CONF={}", slurm_configuration(slurm.directory()).string());
  expect_a_run_of_three(run_documented(documented("srun"), variables));
}

// As one does that submits a job, or applies a manifest.
TEST_F(launchers, a_launcher_may_end_before_its_agents) {
  expect_a_run_of_three(
      run_documented("lockmark run contended --on URL --agents 3 "
                     "--launch 'for n in 1 2 3; do lockmark agent & done'"));
}

TEST_F(launchers, an_ssh_that_fails_is_named_with_its_host) {
  for (const char* host : {"closed", "stranger", "nowhere"}) {
    expect_refusal(
        fmt::format("lockmark run contended --on URL --listen 10.0.0.5:0 --hosts {}", host),
        fmt::format("ssh {} ended with exit status 255", host));
  }
}

TEST_F(launchers, a_launcher_that_fails_is_named) {
  const std::string run =
      "lockmark run contended --on URL --listen 10.0.0.5:0 --agents 3 --launch ";
  expect_refusal(run + "'mpirun.absent lockmark agent'",
                 "mpirun.absent \\*\\*\\* could not be executed");
  expect_refusal(run + "'mpirun -n 1 --host nowhere lockmark agent'",
                 "mpirun \\*\\*\\* ended with exit status [0-9]+", mpi_as_root);
  const auto slurm = local::cluster::start(slurm_nodes());
  const std::string variables =
      fmt::format("SLURM_CONF={}", slurm_configuration(slurm.directory()).string());
  expect_refusal(run + "'srun --ntasks=1 --nodelist=h9 lockmark agent'",
                 "srun \\*\\*\\* ended with exit status 1", variables);
  expect_refusal(run + "'srun --ntasks=3 --ntasks-per-node=1 lockmark.absent agent'",
                 "srun \\*\\*\\* ended with exit status 2", variables);
}

}  // namespace
}  // namespace lockmark::cli
