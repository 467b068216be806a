// The runs of a table: made in turns, gone on with after an interruption, and made again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AnyOf;
using testing::HasSubstr;

void say(json& verdict, const char* id, const char* value) {
  const json message{{"id", id}, {"values", json::array({value, "2"})}};
  verdict["messages"] = json::array({message});
}

void say_that_the_hypervisor_took(json& verdict) {
  say(verdict, "steal", "9.1");
}

// Of one shortened scenario, in memory.
class tables : public testing::Test {
 protected:
  tables() { std::ofstream(dir_ / "targets.yaml") << "mem: 'memory:'\n"; }

  ended table(std::vector<std::string> more) const {
    std::vector<std::string> words{"table", "--targets", (dir_ / "targets.yaml").string()};
    words.insert(words.end(), more.begin(), more.end());
    return run(dir_.path(), std::move(words));
  }

  // `where`: --out or --resume.
  ended short_table(const char* locks, const char* repeats, const char* where,
                    std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--locks", locks, "--scenarios", "contended", "--repeats", repeats,
                             "--format", "json", "--quiet", where, out().string()});
    for (const char* set : {"stop.duration=300ms", "stop.samples=0", "stop.owner_changes=0",
                            "stop.at_most=2s", "warmup=50ms", "floor=0s"}) {
      more.insert(more.end(), {"--set", set});
    }
    return table(std::move(more));
  }

  fs::path out() const { return dir_ / "runs"; }
  json runs_made() const { return read_json(out() / "table_runs.json").at("runs"); }
  std::string last_run() const { return runs_made().back().at("run"); }

  template <class Change>
  void change_last_verdict(const Change& change) const {
    const fs::path file = out() / last_run() / "run.json";
    json content = read_json(file);
    change(content["verdict"]);
    std::ofstream(file) << content;
  }

  scratch dir_;
};

// Three rounds of two rows, a round after the other; and a fourth when the table is resumed.
TEST_F(tables, are_made_in_turns_and_gone_on_with) {
  const auto two_locks = [this](const char* repeats, const char* where) {
    return short_table("memory/*lock", repeats, where);
  };
  const ended first = two_locks("3", "--out");
  EXPECT_THAT(first.status, AnyOf(0, 3)) << first.err;
  const json rows = json::parse(first.out, nullptr, false);
  ASSERT_EQ(rows.size(), 2u) << first.out;
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("runs").size(), 3u);
    const auto& tps = row.at("intervals").at("tps");
    EXPECT_LE(tps.at(0), row.at("tps"));
    EXPECT_GE(tps.at(1), row.at("tps"));
  }
  const json measured = runs_made();
  ASSERT_EQ(measured.size(), 6u);
  for (std::size_t i = 0; i < measured.size(); ++i) EXPECT_EQ(measured[i].at("repetition"), i / 2);

  const ended resumed = two_locks("4", "--resume");
  EXPECT_THAT(resumed.status, AnyOf(0, 3)) << resumed.err;
  const json more = json::parse(resumed.out, nullptr, false);
  ASSERT_EQ(more.size(), 2u) << resumed.out;
  for (const auto& row : more) EXPECT_EQ(row.at("runs").size(), 4u);
  const json after = runs_made();
  ASSERT_EQ(after.size(), 8u);
  EXPECT_EQ(after[5], measured[5]);

  fs::remove_all(out() / after[0].at("run").get<std::string>());
  EXPECT_THAT(two_locks("4", "--resume").status, AnyOf(0, 3));
  EXPECT_EQ(runs_made().size(), 9u);
}

TEST_F(tables, are_not_gone_on_with_otherwise) {
  EXPECT_THAT(short_table("memory/lock", "1", "--out").status, AnyOf(0, 3));
  for (const auto& [name, value] : {std::pair{"--set", "hold=1ms"}, {"--hold", "1ms"}}) {
    const ended other = table({"--resume", out().string(), name, value});
    EXPECT_EQ(other.status, 2);
    EXPECT_THAT(other.err, HasSubstr("was begun with other settings"));
  }
  std::ofstream(out() / "table_runs.json") << R"({"runs": [{"row": 1}]})";
  const ended broken = short_table("memory/lock", "1", "--resume");
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.err, HasSubstr("has no table_runs.json of a table that was interrupted"));
}

// On request, and the row is then that of the later run.
TEST_F(tables, make_again_what_the_hypervisor_disturbed) {
  const auto again = [this] { return short_table("memory/lock", "1", "--resume", {"--again"}); };
  EXPECT_THAT(short_table("memory/lock", "1", "--out").status, AnyOf(0, 3));
  change_last_verdict([](json& verdict) { say(verdict, "busy_worker", "81"); });
  EXPECT_THAT(again().status, AnyOf(0, 3));
  EXPECT_EQ(runs_made().size(), 1u) << "that was not the hypervisor";

  change_last_verdict(say_that_the_hypervisor_took);
  EXPECT_THAT(short_table("memory/lock", "1", "--resume").status, AnyOf(0, 3));
  EXPECT_EQ(runs_made().size(), 1u) << "nobody asked";
  EXPECT_THAT(again().status, AnyOf(0, 3));
  ASSERT_EQ(runs_made().size(), 2u);

  const ended resumed = short_table("memory/lock", "1", "--resume");
  const json rows = json::parse(resumed.out, nullptr, false);
  ASSERT_EQ(rows.size(), 1u) << resumed.out;
  EXPECT_EQ(rows[0].at("run"), last_run());
}

// However little of the machine there was: a second holder is a second holder.
TEST_F(tables, keep_a_run_that_shows_a_violation) {
  EXPECT_THAT(short_table("memory/lock", "1", "--out").status, AnyOf(0, 3));
  change_last_verdict([](json& verdict) {
    say_that_the_hypervisor_took(verdict);
    verdict["violations"] = 3;
  });
  EXPECT_EQ(short_table("memory/lock", "1", "--resume", {"--again"}).status, 1);
  EXPECT_EQ(runs_made().size(), 1u);
}

}  // namespace
}  // namespace lockmark::cli
