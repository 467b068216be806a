// Our locks beside the real clients that they imitate, under contention: the same load on a server
// each, at holds and pauses so long that neither the speed of a language nor the pipe to it
// matters. Needs the clients of deploy/interop: ./check --interop.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

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
  // The server tells waiting instances of a release one after the other, always in the same order.
  // Processes that react as evenly as ours let the first of them win more often than the threads of
  // a JVM do, so how even the shares are is told here and not held to.
  bool told_in_order = false;
};
constexpr likeness pairs[] = {
    {"redis", "exec/redisson", "redis/redisson", true},
    {"zookeeper", "exec/curator", "zookeeper/sequential"},
    {"redis-independent", "exec/redsync", "redis/redlock"},
    {"etcd", "exec/etcd", "etcd/mutex"},
    {"mysql", "exec/shedlock", "mysql/shedlock"},
};

// What a comparison rests on.
struct figures {
  double success = 0;
  double jain_windowed = 0;
  double jain = 0;
  double owner_changes = 0;
  double commands = 0;  // that the server counted for each grant
};

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
                               "stop.duration=180s",
                               "stop.samples=0",
                               "stop.at_most=180s"};
  if (lock == what.ours) set.emplace_back("participants=4");
  for (std::string& s : set) words.insert(words.end(), {"--set", std::move(s)});
  return program(lockmark(std::move(words)), where.path());
}

figures figures_of(program& running, const scratch& where) {
  const ended e = running.wait(300s);
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
    const scratch there, here;
    program real = start(what_, what_.real, theirs.target(), there);
    program ours = start(what_, what_.ours, own.target(), here);
    const figures a = figures_of(real, there), b = figures_of(ours, here);
    const std::string both =
        fmt::format("{}: {}\n{}: {}", what_.real, text_of(a), what_.ours, text_of(b));
    fmt::print("{}\n", both);
    EXPECT_NEAR(a.success, b.success, 0.03) << both;
    if (!what_.told_in_order) {
      EXPECT_NEAR(a.jain_windowed, b.jain_windowed, 0.05) << both;
      EXPECT_NEAR(a.jain, b.jain, 0.05) << both;
    }
    EXPECT_NEAR(a.owner_changes, b.owner_changes, 0.02) << both;
    EXPECT_NEAR(b.commands / a.commands, 1, 0.05) << both;
  }

 private:
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
