// The project's own gate: the number of commands and round trips of one acquire and release without
// contention, for every lock, against the table of the README. Both are exact, so machine noise
// does not matter.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "deploy/local/cluster.hpp"
#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

using json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* readme = LOCKMARK_SOURCE "/README.md";
constexpr std::string_view column = "commands (round trips)";
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

// "2 (1)"
std::string cell(const cost& c) {
  return fmt::format("{:.0f} ({:.0f})", c.commands, c.round_trips);
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream rest(line);
  for (std::string one; std::getline(rest, one, '|');) {
    const auto begin = one.find_first_not_of(' ');
    cells.push_back(begin == one.npos ? ""
                                      : one.substr(begin, one.find_last_not_of(' ') + 1 - begin));
  }
  return cells;
}

// What the README's table of locks says of each, as "2 (1)". Locks without costs are left out.
std::map<std::string, std::string> known_costs(std::istream&& text) {
  std::map<std::string, std::string> known;
  std::size_t place = 0;
  for (std::string line; std::getline(text, line);) {
    const auto cells = cells_of(line);
    const auto head = std::ranges::find(cells, column);
    if (head != cells.end()) place = static_cast<std::size_t>(head - cells.begin());
    if (place == 0 || cells.size() <= place || !cells[1].starts_with('`')) continue;
    if (!cells[place].empty()) known[cells[1].substr(1, cells[1].size() - 2)] = cells[place];
  }
  return known;
}

// Empty: the lock costs what the README says.
std::string difference(const std::map<std::string, std::string>& known, const std::string& lock,
                       const cost& found) {
  const cost whole{std::round(found.commands), std::round(found.round_trips)};
  const auto row = known.find(lock);
  if (row != known.end() && row->second == cell(whole) && same(whole.commands, found.commands) &&
      same(whole.round_trips, found.round_trips)) {
    return "";
  }
  return fmt::format(
      "an acquire of {} and its release cost {:.3f} commands in {:.3f} round trips; if that is "
      "meant, README.md should have | `{}` | ... | {} | under '{}'",
      lock, found.commands, found.round_trips, lock, cell(whole), column);
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
    if (std::set<std::string>{"redis", "zookeeper", "etcd", "mysql", "postgres"}.contains(
            backend)) {
      all.push_back(lock);
    }
  }
  return all;
}

TEST_P(counters_on, of_every_lock_are_what_they_were) {
  const std::string topology = GetParam();
  const auto known = known_costs(std::ifstream(readme));
  const auto servers = local::cluster::start(topology);
  int measured_locks = 0;
  for (const json& lock : locks_for_servers()) {
    if (lock.at("topologies").front() != topology) continue;
    const auto name = lock.at("lock").get<std::string>();
    // A stall of the machine can cost a command more, and then another time; a change always does.
    std::string found = "not measured";
    for (int n = 0; n < 3 && !found.empty(); ++n) {
      found = difference(known, name, measured(name, servers.target()));
    }
    EXPECT_EQ(found, "");
    ++measured_locks;
  }
  EXPECT_GT(measured_locks, 0);
}

INSTANTIATE_TEST_SUITE_P(servers, counters_on,
                         testing::Values("redis", "redis-independent", "zookeeper", "etcd", "mysql",
                                         "postgres"),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(counters, are_known_for_every_lock_and_nothing_else) {
  std::set<std::string> locks, known;
  for (const json& lock : locks_for_servers()) locks.insert(lock.at("lock").get<std::string>());
  for (const auto& [lock, costs] : known_costs(std::ifstream(readme))) known.insert(lock);
  EXPECT_EQ(known, locks);
}

TEST(counters, that_have_grown_are_told_with_the_row_that_would_be_right) {
  const auto known = known_costs(std::istringstream(
      "| lock | commands (round trips) | x |\n|---|---|---|\n| `redis/lua` | 2 (1) |  |\n"
      "| `memory/lock` |  |  |\n"));
  EXPECT_EQ(known.size(), 1U);
  EXPECT_EQ(difference(known, "redis/lua", {2.0025, 1.0025}), "");
  EXPECT_THAT(difference(known, "redis/lua", {3, 1}),
              testing::HasSubstr("| `redis/lua` | ... | 3 (1) |"));
  EXPECT_NE(difference(known, "redis/lua", {2, 3}), "");
  EXPECT_NE(difference(known, "redis/lua", {1.5, 1}), "");
  EXPECT_NE(difference(known, "redis/other", {2, 1}), "");
}

}  // namespace
}  // namespace lockmark::cli
