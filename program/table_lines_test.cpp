// The rows of tables and their settings.
#include "program/table_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "program/resolved_target.hpp"

namespace lockmark::cli {
namespace {

using testing::Contains;
using testing::Not;

// Locks with keys of their own are asked at shares of what they did in a closed loop, so those rows
// come after all that they need.
TEST(table_lines, of_a_full_table_end_with_loads) {
  const catalogue known;
  table_options g;
  g.full = true;
  const auto lines = lines_on(known, g, "redis");
  const auto closed = std::ranges::count(lines, 0.0, &table_line::load);
  const auto own_keys = std::ranges::count_if(
      lines, [](const table_line& l) { return l.load == 0 && l.scenario == "uncontended"; });
  EXPECT_GT(own_keys, 10);
  EXPECT_EQ(static_cast<std::ptrdiff_t>(lines.size()) - closed, 3 * own_keys);
  const auto first = std::ranges::find_if(lines, [](const table_line& l) { return l.load > 0; });
  EXPECT_EQ(first - lines.begin(), closed);
  EXPECT_EQ(first->title(), "uncontended_30");
  EXPECT_EQ(lines.back().title(), "uncontended_80");
}

TEST(table_lines, ask_for_a_share_of_what_the_lock_can_do) {
  const catalogue known;
  table_options g;
  g.full = true;
  const table_line l{
      .lock = &known.lock("redis/lua"), .scenario = "uncontended", .option = "", .load = 0.6};
  EXPECT_THAT(settings_of(g, l, "redis", 1000),
              testing::AllOf(Contains("load.loop=poisson"), Contains("load.rate=600.000/s")));
  g.set = {"load.loop=open"};
  EXPECT_EQ(settings_of(g, l, "redis", 1000).back(), "load.loop=open")
      << "users have the last word";
}

TEST(table_lines, take_short_options_over_their_own_settings_and_set_over_both) {
  const catalogue known;
  table_options g;
  g.load.duration = "2s";
  g.load.clients = "6";
  g.set = {"load.clients=9"};
  const table_line l{
      .lock = &known.lock("redis/lua"), .scenario = "contended", .option = "", .load = 0};
  const std::vector<std::string> set = settings_of(g, l, "redis", 0);
  const auto last = [&set](std::string_view key) {
    std::string found;
    for (const std::string& each : set) {
      if (each.starts_with(key)) found = each;
    }
    return found;
  };
  EXPECT_EQ(last("stop.at_most="), "stop.at_most=2s");
  EXPECT_EQ(last("stop.samples="), "stop.samples=0");
  EXPECT_EQ(last("load.instances="), "load.instances=3");
  EXPECT_EQ(last("load.clients="), "load.clients=9");
}

// A dead holder is missed where others wait for it.
TEST(table_lines, of_a_death_are_of_locks_with_one_holder) {
  const catalogue known;
  table_options g;
  g.full = true;
  std::vector<std::string_view> locks;
  for (const table_line& l : lines_on(known, g, "mysql")) {
    if (l.title() != "holder_killed") continue;
    locks.push_back(l.lock->name);
  }
  EXPECT_THAT(locks, Contains("mysql/for_update"));
  EXPECT_THAT(locks, Not(Contains("mysql/optimistic_version")));
}

// A client's death is the same on more servers, but another cluster is.
TEST(table_lines, of_a_death_are_on_the_first_topology_of_this_machine) {
  const catalogue known;
  table_options g;
  g.full = true;
  const std::vector<named_target> targets{{"redis", "local:redis"},
                                          {"redis-sentinel", "local:redis-sentinel"},
                                          {"redis-independent", "local:redis-independent"},
                                          {"mine", "redis://127.0.0.1:1"}};
  const auto deaths = [&](std::span<const named_target> among, std::size_t target) {
    std::vector<std::string_view> locks;
    const named_target& t = among[target];
    for (const table_line& l : lines_of(known, g, among, t, expected_form(t.target))) {
      if (l.title() == "holder_killed") locks.push_back(l.lock->name);
    }
    return locks;
  };
  EXPECT_THAT(deaths(targets, 0), Contains("redis/lua"));
  EXPECT_THAT(deaths(targets, 1), Not(Contains("redis/lua")));
  EXPECT_THAT(deaths(targets, 2), Contains("redis/redlock"));
  EXPECT_THAT(deaths(targets, 3), Contains("redis/lua"));
  EXPECT_THAT(deaths(std::span(targets).subspan(1), 0), Contains("redis/lua"));
}

// Three runs of 1,250 rows are less than three hours only if most take little more than a second.
TEST(table_lines, of_a_full_table_are_as_short_as_a_p99_allows) {
  const catalogue known;
  table_options g;
  g.full = true;
  for (const table_line& l : lines_on(known, g, "redis")) {
    const std::vector<std::string> set = settings_of(g, l, "redis", 1000);
    if (l.title() == "holder_killed") {
      EXPECT_THAT(set, testing::ElementsAre("stop.duration=6s", "wait=7s"));
    } else {
      EXPECT_THAT(set, Contains("stop.samples=380"));
    }
  }
  g.scenarios = {"contended"};
  const table_line l{
      .lock = &known.lock("redis/lua"), .scenario = "contended", .option = "", .load = 0};
  EXPECT_THAT(settings_of(g, l, "redis", 0), testing::ElementsAre("participants=4"))
      << "a job that is asked for is run as it is";
}

TEST(table_lines, of_a_quick_table_are_closed_loops_of_the_usual_locks) {
  const catalogue known;
  const auto lines = lines_on(known, {}, "redis");
  EXPECT_EQ(lines.size(), 8U);  // four locks, two scenarios
  for (const table_line& l : lines) {
    EXPECT_EQ(l.load, 0);
    const std::vector<std::string> set = settings_of({}, l, "redis", 0);
    EXPECT_THAT(set, Not(Contains("load.loop=poisson")));
    // A p99 needs 368.
    EXPECT_THAT(set, Contains("stop.samples=380"));
    EXPECT_THAT(set,
                Contains(l.scenario == "one_client" ? "stop.duration=300ms" : "stop.duration=1s"));
  }
}

}  // namespace
}  // namespace lockmark::cli
