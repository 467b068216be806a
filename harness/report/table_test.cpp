// The table in its four formats, with rows of every kind.
#include "harness/report/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/report/sample_rows.hpp"

namespace lockmark::report {
namespace {

using json = nlohmann::ordered_json;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Every cell of the four kinds of rows; each reason appears once below.
TEST(table, markdown) {
  const auto lines = lines_of(table_markdown(all_kinds()));
  ASSERT_EQ(lines.size(), 12U);
  EXPECT_EQ(
      lines[0],
      "| lock | cluster mode | implementation | scenario | success | TPS | samples | p50 | p99 "
      "| p99.9 | hand-off | fairness | worst success | commands | server commands | safety | "
      "durability "
      "| violations | valid |");
  EXPECT_EQ(
      lines[2],
      "| redis/lua | redis | two scripts | contended | 99.98 % | 1234 | 20000 | 1.2 ms | "
      "12.3 ms | - | 853 us | 0.88 | 94.0 % | 2.00 | 3.00 | best-effort | each change | 0 | yes |");
  EXPECT_EQ(
      lines[3],
      "| zookeeper/sequential | redis | two scripts | contended | 99.98 % | >= 1234 | 20000 | "
      "<= 1.2 ms | > 1.0 s | - | - | - | 94.0 % | 2.00 | 3.00 | best-effort | each change | 0 | "
      "yes [1] "
      "|");
  EXPECT_THAT(lines[4], HasSubstr("| 3 | INVALID [2] |"));
  EXPECT_EQ(
      lines[5],
      "| redis/setnx | redis | - | contended | - | - | 0 | - | - | - | - | - | - | - | - | none "
      "| - | - | "
      "incomplete [3] |");
  EXPECT_EQ(lines[9], "1. a load thread used 97 % of its core (limit 80 %)");
  EXPECT_EQ(lines[10], "2. debug build");
  EXPECT_EQ(lines[11], "3. incomplete: the run has not ended yet, or was killed; debug build");
}

// A bar in a name does not end its cell.
TEST(table, markdown_escapes_bars) {
  row r = measured_row();
  r.implementation = "a|b";
  EXPECT_THAT(table_markdown({r}), HasSubstr("| a\\|b |"));
}

TEST(table, in_chinese) {
  const auto lines = lines_of(table_markdown(all_kinds(), language::chinese));
  EXPECT_THAT(lines[0], HasSubstr("| 锁 | 集群模式 | 实现方式 | 场景 | 获取成功率 | TPS |"));
  EXPECT_THAT(lines[2], HasSubstr("| redis/lua | redis | two scripts | 竞争 | 99.98 % | 1234 |"));
  EXPECT_THAT(lines[4], HasSubstr("无效 [2]"));
  EXPECT_EQ(lines[9], "1. 一个负载线程用了其核心的 97 %（上限 80 %）");
  EXPECT_THAT(table_terminal(all_kinds(), 200, language::chinese), HasSubstr("获取成功率"));
}

// A dash if a lock does not run there; a lock with an option is a separate lock.
TEST(table, overview) {
  row other = measured_row();
  other.topology = "redis-cluster";
  other.implementation += " [release=del]";
  other["tps"] = {200};
  const auto lines = lines_of(overview_markdown({measured_row(), other}));
  EXPECT_EQ(lines[0], "**TPS by lock and cluster mode: contended**");
  EXPECT_EQ(lines[2], "| lock | redis | redis-cluster |");
  EXPECT_EQ(lines[4], "| redis/lua | 1234 | - |");
  EXPECT_EQ(lines[5], "| redis/lua [release=del] | - | 200 |");
}

TEST(table, by_backend) {
  row redis = measured_row(), keeper = measured_row(), mysql = measured_row();
  keeper.lock = "zookeeper/sequential";
  mysql.lock = "mysql/for_update";
  constexpr std::array<std::string_view, 2> order{"mysql", "zookeeper"};
  const auto rows = by_backend({redis, keeper, mysql}, order);
  EXPECT_EQ(rows[0].lock, "mysql/for_update");
  EXPECT_EQ(rows[1].lock, "zookeeper/sequential");
  EXPECT_EQ(rows[2].lock, "redis/lua");
}

// Numbers as numbers, quotes where a comma needs them, empty if unknown.
TEST(table, csv) {
  row quoted = bound_row();
  quoted.implementation = "the \"first\", and best";
  const auto lines = lines_of(table_csv({measured_row(), quoted, killed_row()}));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0],
            "lock,topology,implementation,scenario,success_rate,tps,samples,p50_ns,p90_ns,p99_ns,"
            "p999_ns,max_ns,handoff_p50_ns,fairness,worst_success,worst_p99_ns,"
            "commands_per_acquire,server_commands_per_acquire,recovery_ns,safety_class,durability,"
            "violations,valid,bound,"
            "complete,reasons,"
            "run,runs,"
            "tps_low,tps_high,rank\r");
  EXPECT_EQ(lines[1],
            "redis/lua,redis,two scripts,contended,0.9998,1234.4,20000,1200000,3456000,12340000,,> "
            "1000000000,853000,0.876,0.94,> 1000000000,2.0,3.0,,best-effort,each "
            "change,0,true,false,true,,first,1,"
            ",,\r");
  EXPECT_THAT(lines[2], HasSubstr("\"the \"\"first\"\", and best\""));
  EXPECT_THAT(lines[2], HasSubstr(",true,true,true,a load thread"));
  EXPECT_EQ(
      lines[3],
      "redis/setnx,redis,,contended,,,0,,,,,,,,,,,,,none,,,false,false,false,\"incomplete: the "
      "run has "
      "not ended yet, or was killed; debug build\",fourth,1,,,\r");
}

// The keys are a contract: exactly these, in every row.
TEST(table, json_keys) {
  const json rows = json::parse(table_json(all_kinds()));
  ASSERT_EQ(rows.size(), 4U);
  for (const json& r : rows) {
    std::vector<std::string> keys;
    for (const auto& item : r.items()) keys.push_back(item.key());
    EXPECT_THAT(keys, ElementsAre("lock", "topology", "scenario", "success_rate", "tps", "samples",
                                  "acquire_ns", "handoff_ns", "fairness", "worst_client",
                                  "commands_per_acquire", "server_commands_per_acquire",
                                  "recovery_ns", "safety_class", "durability", "violations",
                                  "valid", "reasons", "bound", "run"));
    EXPECT_EQ(r["acquire_ns"].size(), 5U);
  }
  EXPECT_EQ(json::parse(table_json({})), json::array());
}

// Numbers, "> N" and null in their places.
TEST(table, json_values) {
  const json rows = json::parse(table_json(all_kinds()));
  EXPECT_EQ(rows[0]["acquire_ns"],
            json::parse(R"({"p50":1200000,"p90":3456000,"p99":12340000,"p999":null,
                            "max":"> 1000000000"})"));
  EXPECT_EQ(rows[0]["success_rate"], 0.9998);
  EXPECT_EQ(rows[0]["handoff_ns"], 853'000);
  EXPECT_EQ(rows[0]["worst_client"], (json{{"success_rate", 0.94}, {"p99_ns", "> 1000000000"}}));
  EXPECT_EQ(rows[0]["reasons"], json::array());
  EXPECT_EQ(rows[1]["bound"], true);
  EXPECT_EQ(rows[1]["valid"], true);
  EXPECT_EQ(rows[1]["fairness"], nullptr);
  EXPECT_EQ(rows[2]["valid"], false);
  EXPECT_EQ(rows[3]["valid"], false);
  EXPECT_EQ(rows[3]["tps"], nullptr);
  EXPECT_EQ(rows[3]["violations"], nullptr);
}

// How long a dead holder keeps the others waiting; without a row that tells there is no column. The
// shortest time is the best, and a lock that was not granted again comes last.
TEST(table, recovery) {
  EXPECT_THAT(table_markdown(all_kinds()), Not(HasSubstr("ext grant")));
  row leased = measured_row(), never = bound_row(), soon = measured_row();
  leased["recovery"] = {1'500'000'000};
  never["recovery"] = {9'500'000'000, true};
  never.bound = false;
  soon["recovery"] = {20'000'000};
  soon.lock = "mysql/for_update";
  for (row* r : {&leased, &never, &soon}) r->scenario = "holder_killed";
  const auto rows = ranked({never, leased, soon});
  EXPECT_EQ(rows[0].lock, "mysql/for_update");
  EXPECT_EQ(rows[2].lock, "zookeeper/sequential");
  const auto text = table_markdown(rows);
  EXPECT_THAT(text, AllOf(HasSubstr("| server commands | next grant |"), HasSubstr("| 1.5 s |"),
                          HasSubstr("| > 9.5 s |"), HasSubstr("Next grant: from the death")));
  EXPECT_THAT(table_markdown(rows, language::chinese), HasSubstr("下次获取："));
  EXPECT_EQ(json::parse(table_json(rows))[2]["recovery_ns"], "> 9500000000");
}

// --wide shows what a narrow terminal has no room for.
TEST(table, all_columns_of_a_narrow_terminal) {
  const auto text = table_terminal(all_kinds(), 80, language::english, {}, true);
  EXPECT_THAT(text, AllOf(HasSubstr("implementation"), HasSubstr("durability"),
                          Not(HasSubstr("Not shown"))));
}

// At 200 columns nothing is left out; columns line up.
TEST(table, wide_terminal) {
  const std::string text = table_terminal(all_kinds(), 200);
  const auto lines = lines_of(text);
  EXPECT_EQ(lines[0], "contended");
  EXPECT_THAT(text, Not(HasSubstr("Not shown")));
  for (const char* cell : {"two scripts", "12.3 ms", ">= 1234", "<= 1.2 ms", "INVALID [2]"}) {
    EXPECT_THAT(text, HasSubstr(cell));
  }
  const auto end_of_tps = lines[1].find("TPS") + 3;
  EXPECT_EQ(lines[2].substr(end_of_tps - 4, 4), "1234");
  EXPECT_EQ(lines[5].substr(end_of_tps - 2, 2), " -");
}

// Narrow terminals lose columns, which are named, but never the important ones.
TEST(table, narrow_terminal) {
  for (const std::size_t width : {80U, 100U, 120U, 160U}) {
    const std::string text = table_terminal(all_kinds(), width);
    for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), width) << line;
    for (const char* kept :
         {"lock", "TPS", "p99", "fair", "safety", "viol.", "valid", "INVALID", "incomplete"}) {
      EXPECT_THAT(text.substr(0, text.find("Acquire times")), HasSubstr(kept)) << width;
    }
    EXPECT_THAT(text, HasSubstr("Not shown for lack of width, but with --wide: implementation"))
        << width;
  }
}

// What is the same in every row says nothing of the locks, and gives way to what differs.
TEST(table, narrow_terminal_keeps_what_differs) {
  row other = measured_row();
  other.lock = "mysql/optimistic_version";
  other["fairness"] = {0.98};
  other["tps"] = {1111};
  other.safety_class = "none";
  const std::string text = table_terminal({measured_row(), other}, 80);
  EXPECT_THAT(lines_of(text)[1], AllOf(HasSubstr("  fair  "), HasSubstr("  safety  "),
                                       Not(HasSubstr("implementation"))));
  EXPECT_THAT(text, HasSubstr("The same in every row: cluster mode redis, implementation"));
  EXPECT_THAT(lines_of(table_terminal({measured_row(), other}, 70))[1],
              AllOf(HasSubstr("  safety  "), Not(HasSubstr("viol."))));
  row broken = other;
  broken["violations"] = {7};
  EXPECT_THAT(lines_of(table_terminal({broken, broken}, 80))[1], HasSubstr("viol."));
}

// What a fault showed of a lock stands in the place of its class, in the rows of every scenario.
TEST(table, tells_on_a_terminal_who_survives_a_pause) {
  row two = measured_row(), one = measured_row(), unpaused = measured_row();
  two.lock = "redis/setnx";
  unpaused.lock = "etcd/mutex";
  row paused_two = two, paused_one = one;
  paused_two.scenario = paused_one.scenario = "holder_paused";
  paused_two["violations"] = {1};
  const auto lines = lines_of(table_terminal({one, two, unpaused, paused_one, paused_two}, 80));
  EXPECT_THAT(lines[1], HasSubstr("holder paused"));
  EXPECT_THAT(lines[2], HasSubstr("safe (best-effort)"));
  EXPECT_THAT(lines[3], HasSubstr("two holders (best-effort)"));
  EXPECT_THAT(lines[4], AllOf(HasSubstr("  best-effort"), Not(HasSubstr("safe"))));
}

// One heading per scenario.
TEST(table, terminal_groups_scenarios) {
  row other = measured_row();
  other.scenario = "uncontended";
  const auto lines = lines_of(table_terminal({measured_row(), bound_row(), other}, 200));
  EXPECT_EQ(lines[0], "contended");
  EXPECT_EQ(lines[4], "");
  EXPECT_EQ(lines[5], "uncontended");
}

// The fastest first; INVALID and incomplete rows after all ranked ones, however fast.
TEST(ranking, never_ranks_what_is_not_valid) {
  row slow = measured_row(), fast = measured_row(), elsewhere = measured_row();
  slow.run = "slow";
  slow["tps"] = {10};
  fast.run = "fast";
  fast["tps"] = {5'000};
  elsewhere.run = "elsewhere";
  elsewhere.scenario = "uncontended";
  std::vector<std::string> order;
  for (const row& r : ranked({killed_row(), invalid_row(), elsewhere, slow, fast})) {
    order.push_back(r.run);
  }
  EXPECT_THAT(order, ElementsAre("fast", "slow", "fourth", "third", "elsewhere"));
}

row with_speed(double tps, const char* run = "") {
  row r = measured_row();
  r.run = run;
  r["tps"] = {tps};
  return r;
}

// Of several runs: the median, the ends of the interval, and sums of what is counted.
TEST(repeats, become_one_row) {
  row censored = with_speed(120, "third");
  censored["p99"] = {1e9, true};
  row violated = with_speed(100, "first");
  violated["violations"] = {2};
  const row one = merged({violated, with_speed(90, "second"), censored});
  EXPECT_EQ(one.run, "first");
  EXPECT_THAT(one.runs, ElementsAre("first", "second", "third"));
  EXPECT_EQ(one["tps"], (reading{100}));
  EXPECT_EQ(one.interval_of(known_figure("tps")), (interval{90, 120}));
  EXPECT_EQ(one["violations"], (reading{2}));
  EXPECT_EQ(one["p99"], measured_row()["p99"]);  // the median is known, the upper end is not
  EXPECT_FALSE(one.interval_of(known_figure("p99")).has_value());
  EXPECT_THAT(table_markdown({one}), HasSubstr("| 100 (90.0–120) |"));
}

// What cannot be believed is left out as long as there is something else, and told.
TEST(repeats, leave_out_what_is_not_valid) {
  const row one = merged({with_speed(100), invalid_row(), with_speed(90)});
  EXPECT_TRUE(one.valid);
  EXPECT_EQ(one.interval_of(known_figure("tps")), (interval{90, 100}));
  EXPECT_THAT(texts_of(one.reasons), Contains(HasSubstr("1 of 3 runs were INVALID or incomplete")));
  EXPECT_FALSE(merged({invalid_row(), invalid_row()}).valid);
}

row repeated(double low, double middle, double high) {
  return merged({with_speed(low), with_speed(middle), with_speed(high)});
}

// Apart only where the intervals are; a bound is no measurement, and comes after those.
TEST(ranking, tells_rows_apart_by_their_intervals) {
  row bound = repeated(500, 600, 700);
  bound.bound = true;
  const auto rows = ranked({repeated(80, 90, 105), bound, repeated(100, 110, 120),
                            repeated(50, 55, 60), repeated(101, 104, 130)});
  std::vector<std::optional<std::size_t>> ranks;
  for (const row& r : rows) ranks.push_back(r.rank);
  EXPECT_THAT(ranks, ElementsAre(1, 1, 1, 4, std::nullopt));
  EXPECT_TRUE(rows.back().bound);
  EXPECT_FALSE(ranked({measured_row(), measured_row()})[0].rank.has_value());
}

// The intervals of the speed are given up before the fairness, and no longer spoken of.
TEST(ranking, on_a_narrow_terminal_stands_for_the_intervals) {
  std::vector<row> rows = ranked({repeated(18000, 19000, 19100), repeated(16000, 17000, 18100)});
  rows[0]["fairness"] = {0.97};
  rows[0].lock = "mysql/optimistic_version";
  const std::string wide = table_terminal(rows, 200), narrow = table_terminal(rows, 80);
  EXPECT_THAT(wide, AllOf(HasSubstr("19000 (18000–19100)"), HasSubstr("with the lowest and")));
  EXPECT_THAT(narrow, AllOf(HasSubstr("  19000  "), HasSubstr(" fair "), Not(HasSubstr("18000")),
                            Not(HasSubstr("with the lowest and"))));
}

// At a given rate all grant the same, and the waits tell who is faster.
TEST(ranking, of_rows_at_a_rate_is_by_their_waits) {
  const auto at_rate = [](double p99, const char* run) {
    row r = with_speed(100, run);
    r.at_rate = true;
    r["p99"] = {p99};
    return r;
  };
  const auto three = [&](double low, double middle, double high, const char* run) {
    return merged({at_rate(low, run), at_rate(middle, run), at_rate(high, run)});
  };
  const auto rows = ranked({three(20e6, 30e6, 40e6, "slow"), three(1e6, 2e6, 3e6, "fast"),
                            three(35e6, 36e6, 50e6, "slow, too")});
  EXPECT_EQ(rows[0].run, "fast");
  EXPECT_EQ(rows[0].rank, 1U);
  EXPECT_EQ(rows[1].run, "slow");
  EXPECT_EQ(rows[1].rank, 2U);
  EXPECT_EQ(rows[2].rank, 2U);
}

}  // namespace
}  // namespace lockmark::report
