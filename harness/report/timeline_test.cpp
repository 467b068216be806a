// The course of a run as CSV.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/base/errors.hpp"
#include "harness/report/run_text.hpp"
#include "harness/run/folder.hpp"
#include "harness/run/sample_result.hpp"

namespace lockmark::report {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class timeline : public testing::Test {
 protected:
  timeline() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = fs::path(testing::TempDir()) / (std::string("lockmark_timeline_") + info->name());
    fs::remove_all(path_);
  }
  ~timeline() override { fs::remove_all(path_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(path_);
    std::ofstream(path_ / name) << text;
  }
  std::vector<std::vector<std::string>> cells() const {
    std::vector<std::vector<std::string>> all;
    std::istringstream lines(timeline_csv(path_));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(line.ends_with("\r"));
      line.pop_back();
      std::istringstream fields(line + ",");
      all.emplace_back();
      for (std::string field; std::getline(fields, field, ',');) all.back().push_back(field);
    }
    return all;
  }
  fs::path path_;
};

// Every figure of a real timeline.jsonl under its name, in columns that do not depend on the run.
TEST_F(timeline, of_a_run) {
  const run::sample_run s;
  run::run_folder folder(path_, s.r.job);
  folder.begin(s.known());
  for (std::size_t i = 0; i < s.intervals.size(); ++i) folder.add(s.intervals[i], s.at_ns[i]);
  folder.finish(s.r);

  const auto table = cells();
  ASSERT_EQ(table.size(), 6U);
  ASSERT_EQ(table[0].size(), 28U);
  std::ifstream in(path_ / "timeline.jsonl");
  std::string text;
  for (std::size_t l = 1; std::getline(in, text); ++l) {
    const auto line = nlohmann::json::parse(text);
    ASSERT_EQ(table.at(l).size(), table[0].size());
    std::size_t found = 0;
    for (std::size_t c = 0; c < table[0].size(); ++c) {
      if (!line.contains(table[0][c])) {
        EXPECT_EQ(table[l][c], "0") << table[0][c];
      } else {
        const auto& value = line[table[0][c]];
        EXPECT_EQ(table[l][c], value.is_string() ? value.get<std::string>() : value.dump())
            << table[0][c];
        ++found;
      }
    }
    EXPECT_EQ(found, line.size());
    EXPECT_EQ(line["response_p99_ns"], "> 1000000000") << "a time-out in each 20 attempts";
  }
}

// A killed run leaves half a line; nulls are empty; unknown keys come last.
TEST_F(timeline, of_a_killed_run) {
  write(
      "timeline.jsonl.part",
      "{\"at_s\": 0, \"attempts\": 7, \"response_p50_ns\": null, \"new\": \"a,b\"}\n{\"at_s\": 1");
  const std::string csv = timeline_csv(path_ / "run.json");
  EXPECT_THAT(csv, testing::StartsWith("at_s,length_s,attempts,granted,"));
  EXPECT_THAT(csv, HasSubstr(",loop_lag_p99_ns,new\r\n0,,7,0,"));
  EXPECT_TRUE(csv.ends_with(",\"a,b\"\r\n")) << csv;
}

// Missing or not a run: one sentence.
TEST_F(timeline, refusals) {
  EXPECT_THROW(timeline_csv(path_), usage_error);
  write("timeline.jsonl", "{}\n[]\n");
  EXPECT_THROW(timeline_csv(path_), usage_error);
}

}  // namespace
}  // namespace lockmark::report
