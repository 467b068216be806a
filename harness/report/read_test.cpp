// From a run folder on disk to a row of the table.
#include "harness/report/read.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "harness/base/errors.hpp"
#include "harness/report/row.hpp"
#include "harness/run/folder.hpp"
#include "harness/run/result_json.hpp"
#include "harness/run/sample_result.hpp"

namespace lockmark::report {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class read_test : public testing::Test {
 protected:
  read_test() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = fs::path(testing::TempDir()) / (std::string("lockmark_read_") + info->name());
    fs::remove_all(path_);
  }
  ~read_test() override { fs::remove_all(path_); }

  void write(const run::result& r) const { run::run_folder(path_, r.job).finish(r); }
  void write_text(const std::string& text) const {
    fs::create_directories(path_);
    std::ofstream(path_ / "run.json") << text;
  }
  std::string refusal() const {
    try {
      row_of(read_run(path_));
    } catch (const usage_error& e) {
      return e.what();
    }
    return "no error";
  }
  fs::path path_;
};

// Folder, folder with a slash and run.json name the same run.
TEST_F(read_test, by_folder_or_file) {
  write(run::sample_run{}.r);
  for (const fs::path& p : {path_, path_ / "", path_ / "run.json"}) {
    EXPECT_EQ(read_run(p).name, path_.filename());
    EXPECT_EQ(read_run(p).content["run"]["lock"], "redis/lua");
  }
}

// A folder may be called run.json.
TEST_F(read_test, a_folder_called_run_json) {
  fs::create_directories(path_ / "run.json");
  EXPECT_THAT(refusal(), HasSubstr("cannot be read"));
}

// The same lock over another network is another row.
TEST_F(read_test, names_the_network) {
  run::sample_run sample;
  sample.r.job.rtt = std::chrono::milliseconds{1};
  write(sample.r);
  EXPECT_EQ(row_of(read_run(path_)).topology, "redis +1.0 ms");
  sample.r.job.rtt_jitter = std::chrono::milliseconds{1};
  fs::remove_all(path_);
  write(sample.r);
  EXPECT_EQ(row_of(read_run(path_)).topology, "redis +1.0 ms to 2.0 ms");
}

// Every figure of the row, from a result written to disk.
TEST_F(read_test, row_of_a_complete_run) {
  write(run::sample_run{}.r);
  const row r = row_of(read_run(path_));
  EXPECT_EQ(r.run, path_.filename());
  EXPECT_EQ(r.lock, "redis/lua");
  EXPECT_EQ(r.topology, "redis");
  EXPECT_EQ(r.scenario, "contended");
  const auto value = [&r](std::string_view name) { return r[name].value.value(); };
  EXPECT_DOUBLE_EQ(value("success_rate"), 0.95);
  EXPECT_DOUBLE_EQ(value("tps"), 980);
  EXPECT_EQ(r.samples(), 5'020U);
  EXPECT_NEAR(value("p50"), 10.03e6, 0.02e6);
  EXPECT_FALSE(r["p90"].censored);
  EXPECT_EQ(r["p99"], (reading{1e9, true}));
  EXPECT_EQ(r["p99.9"], (reading{1e9, true}));
  EXPECT_EQ(r["max"], (reading{1e9, true}));
  EXPECT_NEAR(value("handoff_p50"), 800e3, 1e3);
  EXPECT_DOUBLE_EQ(value("fairness"), 1);
  EXPECT_DOUBLE_EQ(value("commands"), 2);
  EXPECT_DOUBLE_EQ(value("commands_per_second"), 2 * 980);
  EXPECT_EQ(r.safety_class, "best-effort");
  EXPECT_EQ(value("violations"), 0);
  EXPECT_TRUE(r.valid && r.complete && !r.bound);
  EXPECT_TRUE(r.reasons.empty());
}

// A killed run can be read; its row is not valid, has no figures and says why.
TEST_F(read_test, killed_run) {
  const run::sample_run s;
  run::run_folder(path_, s.r.job).begin(s.known());
  const row r = row_of(read_run(path_));
  EXPECT_FALSE(r.complete || r.valid || r.bound);
  for (const char* name : {"tps", "success_rate", "p50", "max", "violations", "fairness"}) {
    EXPECT_FALSE(r[name].value) << name;
  }
  EXPECT_THAT(texts_of(r.reasons),
              ElementsAre("incomplete: the run has not ended yet, or was killed"));
}

// An interrupted run keeps its figures, but is not valid.
TEST_F(read_test, interrupted_run) {
  run::sample_run s;
  s.r.how = run::ending::interrupted;
  s.r.why = "interrupted";
  s.r.verdict.bound = true;
  write(s.r);
  const row r = row_of(read_run(path_));
  EXPECT_FALSE(r.complete || r.valid || r.bound);
  EXPECT_TRUE(r["tps"].value);
  EXPECT_THAT(texts_of(r.reasons), ElementsAre("incomplete: interrupted"));
}

// Drift is reported.
TEST_F(read_test, drifting_run) {
  run::sample_run s;
  s.r.steady = {true, true, {2'100'000, false}, {900'000, false}};
  write(s.r);
  EXPECT_THAT(texts_of(row_of(read_run(path_)).reasons),
              ElementsAre("not stationary: p50 fell from 2.1 ms to 900 us over the run"));
  s.r.steady.last = {1'000'000'000, true};
  fs::remove_all(path_);
  write(s.r);
  EXPECT_THAT(texts_of(row_of(read_run(path_)).reasons),
              ElementsAre("not stationary: p50 rose from 2.1 ms to > 1.0 s over the run"));
}

// Older runs have a change per minute, which may be -584 %: no number to repeat.
TEST_F(read_test, drifting_run_of_an_older_version) {
  nlohmann::ordered_json content = run::to_json(run::sample_run{}.r);
  content["verdict"]["drifting"] = {
      {"known", true}, {"drifts", true}, {"change_per_minute", -5.843}};
  EXPECT_THAT(texts_of(row_of({"old", content}).reasons),
              ElementsAre("not stationary: p50 changed over the run"));
}

// The pipe to a client in a process of its own is told; one of 0 is not known.
TEST_F(read_test, run_with_a_pipe) {
  run::sample_run s;
  s.r.totals[run::series::pipe].record(0, 5'000);
  EXPECT_TRUE(row_of({"unknown", run::to_json(s.r)}).reasons.empty());
  s.r.totals[run::series::pipe].reset();
  s.r.totals[run::series::pipe].record(80'000, 3);
  EXPECT_THAT(texts_of(row_of({"short", run::to_json(s.r)}).reasons),
              ElementsAre("in a process of its own: 80.0 us a call for the pipe, taken out"));
  s.r.totals[run::series::pipe].record(80'000, 5'000);
  EXPECT_THAT(
      texts_of(row_of({"long", run::to_json(s.r)}).reasons),
      ElementsAre("in a process of its own: 80.0 us a call for the pipe (p99 80.1 us), taken out"));
}

// Missing file, not JSON, not a run, a future version, a missing key: one sentence each.
TEST_F(read_test, refusals) {
  EXPECT_THAT(refusal(), HasSubstr("cannot be read"));
  fs::create_directories(path_);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("run.json"), HasSubstr("cannot be read")));
  write_text("{\"schema_version\":");
  EXPECT_THAT(refusal(), HasSubstr("is not JSON"));
  write_text("{\"schema_version\": 7777E7776}");
  EXPECT_THAT(refusal(), HasSubstr("holds a number that is too large"));
  write_text("[1]");
  EXPECT_THAT(refusal(), HasSubstr("has no schema_version"));
  write_text("{\"schema_version\": \"2.0\"}");
  EXPECT_THAT(refusal(), HasSubstr("has schema_version 2.0; this lockmark reads 1.x"));
  write_text("{\"schema_version\": \"1.7\"}");
  EXPECT_THAT(refusal(), HasSubstr("is not as lockmark writes it"));
}

// A later minor version has more keys; they are ignored.
TEST_F(read_test, later_minor_version) {
  nlohmann::ordered_json content = run::to_json(run::sample_run{}.r);
  content["schema_version"] = "1.99";
  content["invented"] = 1;
  write_text(run::dump(content));
  EXPECT_EQ(row_of(read_run(path_)).samples(), 5'020U);
}

// A key that is wanted and not held: the row says what took the time.
TEST_F(read_test, why_a_key_was_hardly_held) {
  const auto notes = [](double held, double idle, const char* loop = "closed") {
    recorded_run run{"run", run::to_json(run::sample_run{}.r)};
    run.content["run"]["loop"] = loop;
    run.content["run"]["keys"] = 1;
    run.content["handoff"]["held_share"] = held;
    run.content["handoff"]["idle_while_wanted_share"] = idle;
    std::string all;
    for (const message& m : row_of(run).reasons) all += m.id + " ";
    return all;
  };
  EXPECT_THAT(notes(0.55, 0.40), HasSubstr("held_less_by_handoffs"));
  EXPECT_THAT(notes(0.55, 0.05), HasSubstr("held_less_by_demand"));
  EXPECT_THAT(notes(0.75, 0.20), Not(HasSubstr("held_less")));
  EXPECT_THAT(notes(0.55, 0.40, "open"), Not(HasSubstr("held_less")));
}

}  // namespace
}  // namespace lockmark::report
