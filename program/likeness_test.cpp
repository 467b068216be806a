// Our locks beside the real clients that they imitate, under contention: the same load on a server
// each, at holds and pauses so long that neither the speed of a language nor the pipe to it
// matters. Needs the clients of deploy/interop: ./check --interop.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "deploy/local/cluster.hpp"
#include "drivers/conformance/conformance.hpp"
#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;

struct likeness {
  const char* topology;
  const char* real;
  const char* ours;
  // On loopback a server's message reaches all waiting instances within microseconds, and in the
  // order in which they are written to. Processes that react as evenly as ours then let the last to
  // subscribe win more often than the threads of a JVM do. On a network they do not.
  bool far = false;
};
constexpr likeness pairs[] = {
    {"redis", "exec/redisson", "redis/redisson", true},
    {"zookeeper", "exec/curator", "zookeeper/sequential"},
    {"redis-independent", "exec/redsync", "redis/redlock"},
    {"etcd", "exec/etcd", "etcd/mutex"},
    {"mysql", "exec/shedlock", "mysql/shedlock"},
};

// A server tells waiting clients of a release one after the other, in an order that can last for a
// whole run: how even the shares are differs between two runs of the same lock by as much as a
// comparison allows. Compared are means of runs with an order each.
constexpr int rounds = 6;

// What a comparison rests on.
struct figures {
  double success = 0;
  double jain_windowed = 0;
  double jain = 0;
  double owner_changes = 0;
  double commands = 0;  // that the server counted for each grant
};

figures mean(const std::vector<figures>& all) {
  figures sum;
  for (const figures& f : all) {
    sum.success += f.success;
    sum.jain_windowed += f.jain_windowed;
    sum.jain += f.jain;
    sum.owner_changes += f.owner_changes;
    sum.commands += f.commands;
  }
  const auto n = static_cast<double>(all.size());
  return {sum.success / n, sum.jain_windowed / n, sum.jain / n, sum.owner_changes / n,
          sum.commands / n};
}

std::string text_of(const figures& f) {
  return fmt::format(
      "success {:.1f} %, Jain {:.3f} in short windows, {:.3f} over the run, {:.1f} % "
      "of grants changed owner, {:.2f} commands per grant on the server",
      100 * f.success, f.jain_windowed, f.jain, 100 * f.owner_changes, f.commands);
}

// Sixteen clients in four processes, of ours as of theirs.
program start(const likeness& what, const char* lock, const std::string& target,
              const scratch& where) {
  std::vector<std::string> words{
      "run", "contended", "--on", target, "--quiet", "--out", (where / "runs").string()};
  std::vector<std::string> set{fmt::format("lock={}", lock),
                               "hold=50ms",
                               "load.think=exponential(200ms)",
                               "wait=2s",
                               "retry=jittered(20ms, 80ms)",
                               "warmup=5s",
                               "stop.duration=60s",
                               "stop.samples=0",
                               "stop.at_most=60s"};
  if (lock == what.ours) set.emplace_back("participants=4");
  if (what.far) set.insert(set.end(), {"rtt=1ms", "rtt_jitter=1ms"});
  for (std::string& s : set) words.insert(words.end(), {"--set", std::move(s)});
  return program(lockmark(std::move(words)), where.path());
}

figures figures_of(program& running, const scratch& where) {
  const ended e = running.wait(180s);
  EXPECT_TRUE(e.status == 0 || e.status == 3) << e.out << e.err;
  const nlohmann::json run = read_json(only_folder(where / "runs") / "run.json");
  const nlohmann::json& f = run.at("fairness");
  return {run.at("success_rate"), f.at("jain_windowed"), f.at("jain_run"),
          f.at("owner_change_share"), run.at("cost_per_acquire").at("server_commands_per_grant")};
}

class likeness_case final : public testing::Test {
 public:
  explicit likeness_case(const likeness& what) : what_(what) {}

  void TestBody() override {
    const auto theirs = local::cluster::start(what_.topology);
    const auto own = local::cluster::start(what_.topology);
    std::vector<figures> real, ours;
    for (int round = 0; round < rounds; ++round) {
      const scratch there, here;
      program one = start(what_, what_.real, theirs.target(), there);
      program other = start(what_, what_.ours, own.target(), here);
      real.push_back(figures_of(one, there));
      ours.push_back(figures_of(other, here));
      fmt::print("{}\n", beside(real.back(), ours.back()));
    }
    const figures a = mean(real), b = mean(ours);
    const std::string both = beside(a, b);
    fmt::print("in the mean of {} runs:\n{}\n", rounds, both);
    EXPECT_NEAR(a.success, b.success, 0.03) << both;
    EXPECT_NEAR(a.jain_windowed, b.jain_windowed, 0.05) << both;
    EXPECT_NEAR(a.jain, b.jain, 0.05) << both;
    EXPECT_NEAR(a.owner_changes, b.owner_changes, 0.02) << both;
    EXPECT_NEAR(b.commands / a.commands, 1, 0.05) << both;
  }

 private:
  std::string beside(const figures& real, const figures& ours) const {
    return fmt::format("{}: {}\n{}: {}", what_.real, text_of(real), what_.ours, text_of(ours));
  }

  const likeness& what_;
};

}  // namespace
}  // namespace lockmark::cli

int main(int argc, char** argv) {
  using namespace lockmark;
  const auto add_all = [] {
    for (const cli::likeness& each : cli::pairs) {
      std::string name(each.ours);
      name[name.find('/')] = '_';
      testing::RegisterTest("likeness", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [&each]() -> testing::Test* { return new cli::likeness_case(each); });
    }
  };
  return conformance::run_tests(argc, argv, add_all, 4);
}
