// The project's own gate: the number of commands and round trips of one acquire and release without
// contention, for every lock, against deploy/ci/counters.json. Both are exact, so machine noise
// does not matter.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "deploy/local/cluster.hpp"
#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

using json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* counters_file = LOCKMARK_SOURCE "/deploy/ci/counters.json";
// The cost of loading a script or pinging a connection disappears in this many grants.
constexpr const char* grants = "400";
constexpr double once_in_a_while = 0.02;

struct cost {
  double commands = 0;
  double round_trips = 0;
};

bool same(double known, double found) {
  return std::abs(known - found) < once_in_a_while;
}

// The row that the file should have.
std::string row(const std::string& lock, const std::string& topology, const cost& c) {
  return fmt::format(R"("{}": {{"on": "{}", "commands": {:.0f}, "round_trips": {:.0f}}})", lock,
                     topology, c.commands, c.round_trips);
}

// Empty: the lock costs what the file states.
std::string difference(const json& known, const std::string& lock, const std::string& topology,
                       const cost& found) {
  if (known.contains(lock)) {
    const json& k = known.at(lock);
    if (k.at("on") == topology && same(k.at("commands").get<double>(), found.commands) &&
        same(k.at("round_trips").get<double>(), found.round_trips)) {
      return "";
    }
  }
  return fmt::format(
      "an acquire of {} and its release cost {:.3f} commands in {:.3f} round trips; if that is "
      "meant, the row in deploy/ci/counters.json is {}",
      lock, found.commands, found.round_trips, row(lock, topology, found));
}

class counters_on : public testing::TestWithParam<const char*> {
 protected:
  cost measured(const std::string& lock, const std::string& target) const {
    std::filesystem::remove_all(dir_ / lock);
    std::vector<std::string> words{"run",   "uncontended",         "--on", target, "--quiet",
                                   "--out", (dir_ / lock).string()};
    for (const std::string& set :
         {fmt::format("lock={}", lock), fmt::format("stop.samples={}", grants),
          std::string("load.instances=1"), std::string("load.clients=1"),
          std::string("stop.duration=0s"), std::string("warmup=0s"), std::string("floor=0s"),
          // An attempt that times out on a slow disk costs commands, too.
          std::string("wait=30s"), std::string("stop.at_most=120s")}) {
      words.insert(words.end(), {"--set", set});
    }
    const ended e = run(dir_.path(), words);
    EXPECT_THAT(e.status, testing::AnyOf(0, 3)) << lock << ": " << e.err;
    if (e.status != 0 && e.status != 3) return {};
    const json costs = read_json(only_folder(dir_ / lock) / "run.json").at("cost_per_acquire");
    return {costs.at("client_commands_per_grant").get<double>(),
            costs.at("round_trips_per_grant").get<double>()};
  }
  scratch dir_;
};

std::vector<json> locks_for_servers() {
  const scratch dir;
  std::vector<json> all;
  for (const json& lock : json::parse(run(dir.path(), {"list", "--format", "json"}).out)) {
    const auto name = lock.at("lock").get<std::string>();
    const std::string backend = name.substr(0, name.find('/'));
    if (std::set<std::string>{"redis", "zookeeper", "mysql"}.contains(backend)) {
      all.push_back(lock);
    }
  }
  return all;
}

TEST_P(counters_on, of_every_lock_are_what_they_were) {
  const std::string topology = GetParam();
  const json known = read_json(counters_file);
  const auto servers = local::cluster::start(topology);
  int measured_locks = 0;
  for (const json& lock : locks_for_servers()) {
    if (lock.at("topologies").front() != topology) continue;
    const auto name = lock.at("lock").get<std::string>();
    // A stall of the machine can cost a command more, and then another time; a change always does.
    std::string found = "not measured";
    for (int n = 0; n < 3 && !found.empty(); ++n) {
      found = difference(known, name, topology, measured(name, servers.target()));
    }
    EXPECT_EQ(found, "");
    ++measured_locks;
  }
  EXPECT_GT(measured_locks, 0);
}

INSTANTIATE_TEST_SUITE_P(servers, counters_on,
                         testing::Values("redis", "redis-independent", "zookeeper", "mysql"),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(counters, are_known_for_every_lock_and_nothing_else) {
  std::set<std::string> locks, known;
  for (const json& lock : locks_for_servers()) locks.insert(lock.at("lock").get<std::string>());
  const json content = read_json(counters_file);
  for (const auto& entry : content.items()) known.insert(entry.key());
  EXPECT_EQ(known, locks);
}

TEST(counters, that_have_grown_are_told_with_the_row_that_would_be_right) {
  const json known =
      json::parse(R"({"redis/lua": {"on": "redis", "commands": 2, "round_trips": 2}})");
  EXPECT_EQ(difference(known, "redis/lua", "redis", {2.0025, 2.0025}), "");
  EXPECT_THAT(
      difference(known, "redis/lua", "redis", {3, 2}),
      testing::HasSubstr(R"("redis/lua": {"on": "redis", "commands": 3, "round_trips": 2})"));
  EXPECT_NE(difference(known, "redis/lua", "redis", {2, 3}), "");
  EXPECT_NE(difference(known, "redis/lua", "redis", {1, 2}), "");
  EXPECT_NE(difference(known, "redis/other", "redis", {2, 2}), "");
}

}  // namespace
}  // namespace lockmark::cli
