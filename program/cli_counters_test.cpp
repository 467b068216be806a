// The project's own gate: the number of commands and round trips of one acquire and release without
// contention, for every lock, against what `lockmark list` says of it. Both are exact, so machine
// noise does not matter.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>

#include "deploy/local/cluster.hpp"
#include "deploy/local/versions.hpp"
#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

using json = nlohmann::json;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

// The cost of loading a script or pinging a connection disappears in this many grants.
constexpr const char* grants = "400";
constexpr duration at_most = 120s;
constexpr double once_in_a_while = 0.02;

struct cost {
  double commands = 0;
  double round_trips = 0;
  std::optional<double> counted = {};  // by the server; PostgreSQL counts none
};

bool same(double known, double found) {
  return std::abs(known - found) < once_in_a_while;
}

// What the lock's row declares; all 0 if nothing. Redis also counts what scripts call: its own test
// of costs knows each command.
cost declared(const json& lock) {
  return {lock.value("commands", 0.0), lock.value("round_trips", 0.0)};
}

bool counts_what_is_sent(std::string_view lock) {
  return !lock.starts_with("redis/");
}

// Empty: the lock costs what its row says.
std::string difference(const json& lock, const cost& found) {
  const cost said = declared(lock);
  const bool as_sent = same(said.commands, found.commands);
  if (as_sent && same(said.round_trips, found.round_trips)) {
    const auto name = lock.at("lock").get<std::string>();
    const double counted = found.counted.value_or(said.commands);
    if (!counts_what_is_sent(name) || same(said.commands, counted)) return "";
    return fmt::format(
        "an acquire of {} and its release send {:.0f} commands, and the server counted {:.3f}",
        name, said.commands, counted);
  }
  return fmt::format(
      "an acquire of {} and its release cost {:.3f} commands in {:.3f} round trips; if that is "
      "meant, its row should have .cost = {{{:.0f}, {:.0f}}}",
      lock.at("lock").get<std::string>(), found.commands, found.round_trips, found.commands,
      found.round_trips);
}

std::vector<std::string> counted_topologies() {
  return local::of_kind_under_test(
      {"redis", "redis-independent", "zookeeper", "etcd", "mysql", "postgres"});
}

class counters_on : public testing::TestWithParam<std::string> {
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
          std::string("wait=30s"), fmt::format("stop.at_most={}s", at_most / 1s)}) {
      words.insert(words.end(), {"--set", set});
    }
    const ended e = run(dir_.path(), words, at_most + 30s);
    EXPECT_THAT(e.status, testing::AnyOf(0, 3)) << lock << ": " << e.err;
    if (e.status != 0 && e.status != 3) return {};
    const json costs = read_json(only_folder(dir_ / lock) / "run.json").at("cost_per_acquire");
    const json& counted = costs.at("server_commands_per_grant");
    return {costs.at("client_commands_per_grant").get<double>(),
            costs.at("round_trips_per_grant").get<double>(),
            counted.is_null() ? std::nullopt : std::optional(counted.get<double>())};
  }
  scratch dir_;
};

std::vector<json> locks_for_servers() {
  const scratch dir;
  std::vector<json> all;
  for (const json& lock : json::parse(run(dir.path(), {"list", "--format", "json"}).out)) {
    const auto name = lock.at("lock").get<std::string>();
    const std::string backend = name.substr(0, name.find('/'));
    if (std::set<std::string>{"redis", "zookeeper", "etcd", "mysql", "postgres"}.contains(
            backend)) {
      all.push_back(lock);
    }
  }
  return all;
}

TEST_P(counters_on, of_every_lock_are_what_they_were) {
  const std::string topology = GetParam();
  const auto servers = local::cluster::start(local::of_version_under_test(topology));
  int measured_locks = 0;
  for (const json& lock : locks_for_servers()) {
    if (lock.at("topologies").front() != topology) continue;
    const auto name = lock.at("lock").get<std::string>();
    // A stall of the machine can cost a command more, and then another time; a change always does.
    std::string found = "not measured";
    for (int n = 0; n < 3 && !found.empty(); ++n) {
      found = difference(lock, measured(name, servers.target()));
    }
    EXPECT_EQ(found, "");
    ++measured_locks;
  }
  EXPECT_GT(measured_locks, 0);
}

INSTANTIATE_TEST_SUITE_P(servers, counters_on, testing::ValuesIn(counted_topologies()),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(counters, of_the_server_are_those_of_the_client) {
  const json lock{{"lock", "mysql/get_lock"}, {"commands", 2}, {"round_trips", 2}};
  EXPECT_EQ(difference(lock, {2, 2, 2.0075}), "");
  EXPECT_EQ(difference(lock, {2, 2, 3}),
            "an acquire of mysql/get_lock and its release send 2 commands, and the server counted "
            "3.000");
}

TEST(counters, that_have_grown_are_told_with_the_row_that_would_be_right) {
  const json lock{{"lock", "redis/lua"}, {"commands", 2}, {"round_trips", 1}};
  EXPECT_EQ(difference(lock, {2.0025, 1.0025, 6}), "") << "with what its scripts call";
  EXPECT_THAT(difference(lock, {3, 1}), testing::HasSubstr(".cost = {3, 1}"));
  EXPECT_NE(difference(lock, {2, 3}), "");
  EXPECT_NE(difference(lock, {1.5, 1}), "");
  EXPECT_NE(difference({{"lock", "redis/other"}}, {2, 1}), "");
}

}  // namespace
}  // namespace lockmark::cli
