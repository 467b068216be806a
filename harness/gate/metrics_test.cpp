// The gate's reading of run folders, and the sentences for unusable ones.
#include "harness/gate/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/errors.hpp"
#include "harness/run/result_json.hpp"
#include "harness/run/sample_result.hpp"

namespace lockmark::gate {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

report::recorded_run sample() {
  return {"first", run::to_json(run::sample_run{}.r)};
}

template <class Action>
std::string sentence_of(Action action) {
  try {
    action();
  } catch (const usage_error& e) {
    return e.what();
  }
  return "no usage_error";
}

TEST(gate_metrics, are_read_from_a_run) {
  const auto run = sample();
  const auto all = measured_by(known_metrics(true), false, run, "the baseline");
  const block b = block_of(all, run, "the baseline");
  ASSERT_EQ(b.values.size(), all.size());
  for (const double v : b.values) EXPECT_GT(v, 0);
  EXPECT_TRUE(b.control);
}

TEST(gate_metrics, that_the_run_lacks_are_left_out_unless_asked_for) {
  auto run = sample();
  run.content["handoff"]["transfer"] = nullptr;
  const auto all = measured_by(known_metrics(true), false, run, "the baseline");
  EXPECT_EQ(all.size(), known_metrics(true).size() - 1);
  EXPECT_THAT(sentence_of([&] { measured_by(known_metrics(true), true, run, "the baseline"); }),
              HasSubstr("--metrics: a run of the baseline has no handoff_p50"));
}

TEST(gate_metrics, need_enough_attempts) {
  auto run = sample();
  for (auto& entry : run.content["quantiles"]["response"]["quantiles"]) {
    entry["n"] = 120;
    entry["supported"] = false;
    entry["value_ns"] = nullptr;
  }
  EXPECT_THAT(sentence_of([&] { value_of("acquire_p99", run, "the candidate"); }),
              HasSubstr("acquire_p99 needs 368 attempts a run, and the candidate had 120"));
}

// A p99 among timed-out attempts, and what a slow harness leaves: values in doubt.
TEST(gate_metrics, doubt_what_is_only_a_bound) {
  auto run = sample();
  const auto all = known_metrics(true);
  const auto doubts = [&] { return block_of(all, run, "x").doubts; };
  const auto p99 = [&](const nlohmann::ordered_json& value) {
    for (auto& entry : run.content["quantiles"]["response"]["quantiles"]) {
      if (entry["q"] == 0.99) entry["value_ns"] = value;
    }
  };
  p99(2'000'000);
  EXPECT_THAT(doubts(), Each(IsEmpty()));

  run.content["verdict"]["bound"] = ">=";
  run.content["verdict"]["reasons"] = {"idle threads waited", "a worker was busy"};
  EXPECT_EQ(doubts()[0], "is only a bound: idle threads waited; a worker was busy");
  EXPECT_THAT(doubts()[3], Not(IsEmpty()));
  EXPECT_THAT(doubts()[5], IsEmpty());  // an exact count
  EXPECT_THAT(block_of(known_metrics(false), run, "x").doubts, Each(Not(IsEmpty())));

  run.content["verdict"]["bound"] = nullptr;
  p99("> 1000000000");
  EXPECT_EQ(value_of("acquire_p99", run, "x"), 1e9);
  EXPECT_THAT(doubts()[0], IsEmpty());
  EXPECT_EQ(doubts()[1], "has only > 1.0 s: too many of its attempts timed out");
}

TEST(gate_metrics, need_a_run_as_lockmark_writes_it) {
  auto run = sample();
  run.content.erase("quantiles");
  EXPECT_THAT(sentence_of([&] { value_of("acquire_p50", run, "x"); }),
              HasSubstr("run first: its run.json is not as lockmark writes it"));
}

TEST(gate_jobs, differ_by_what_they_do_and_not_by_how_long) {
  const run::sample_run made;
  const report::recorded_run run{"first", run::to_json(made.r)};
  config::job job = made.r.job;
  EXPECT_THAT(other_job(run, job), IsEmpty());
  job.stop_duration += std::chrono::seconds{3};
  job.warmup += std::chrono::seconds{1};
  job.seed += 1;
  EXPECT_THAT(other_job(run, job), IsEmpty());
  job.wait += std::chrono::seconds{1};
  EXPECT_THAT(other_job(run, job), HasSubstr("wait is "));
}

TEST(gate_hosts, are_told_apart) {
  const auto run = sample();
  auto other = sample();
  EXPECT_EQ(host_fingerprint(run), host_fingerprint(other));
  other.content["provenance"]["host"]["cpu_model"] = "another";
  EXPECT_NE(host_fingerprint(run), host_fingerprint(other));
}

}  // namespace
}  // namespace lockmark::gate
