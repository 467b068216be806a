// The gate's output, for people and for programs.
#include "harness/gate/outcome.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/base/errors.hpp"
#include "harness/gate/metrics.hpp"
#include "harness/report/markdown.hpp"

namespace lockmark::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using how = report::test_case::outcome;

// A session of ten pairs without a difference, or with a third command per acquire.
outcome made(double commands = 2) {
  const auto metrics = known_metrics(true);
  session s(metrics);
  while (s.wants_more()) {
    pair p;
    const double wobble = s.pairs() % 2 == 0 ? 1.01 : 0.99;
    p.baseline.values = {62'000, 110'000, 15'000, 1, 51'000, 2, 2};
    p.candidate.values = {62'000 * wobble, 110'000, 15'000, 1, 51'000, commands, 2};
    p.baseline.control = p.candidate.control = 1e6;
    s.add(p);
  }
  outcome o;
  o.job = "contended";
  o.baseline = "redis/lua on redis://127.0.0.1:6379";
  o.candidate = "redis/lua on redis://127.0.0.1:6380";
  o.started_utc = "2026-11-21T10:00:00Z";
  o.took_s = 75;
  o.seed = 7;
  o.order = "bc";
  o.provenance = {{"git_revision", "abc123"}, {"host", {{"name", "ci, 1"}}}};
  o.found = s.conclude();
  return o;
}

TEST(gate_outcome, has_the_verdict_first) {
  EXPECT_THAT(outcome_text(made()), StartsWith("gate contended: PASS\n"));
  EXPECT_THAT(outcome_text(made(3)), StartsWith("gate contended: REGRESSION\n"));
  EXPECT_THAT(outcome_text(made(3)),
              AllOf(HasSubstr("1 pair in 75 s, seed 7; control +0.0 % (no bounds)"),
                    HasSubstr("n/a (1 pair)"), Not(HasSubstr("?"))));
  EXPECT_THAT(outcome_text(made()), AllOf(HasSubstr(" .. "), Not(HasSubstr("n/a"))));
  EXPECT_THAT(outcome_text(made()),
              AllOf(HasSubstr("110 us"), HasSubstr("15000/s"), HasSubstr("100 %")));
}

TEST(gate_outcome, ends_with_the_status_of_its_verdict) {
  EXPECT_EQ(exit_status(made()), 0);
  EXPECT_EQ(exit_status(made(3)), 1);
  outcome doubtful = made();
  doubtful.found.how = decision::inconclusive;
  EXPECT_EQ(exit_status(doubtful), 3);
  outcome elsewhere = made(3);
  elsewhere.only_warns = true;
  EXPECT_EQ(exit_status(elsewhere), 0);
  EXPECT_EQ(verdict_of(elsewhere), "WARNING");
}

// A stored baseline of few runs.
TEST(gate_outcome, that_warns_is_no_failure) {
  outcome o = made();
  o.found.how = o.found.metrics[0].how = decision::warning;
  o.found.stored = 3;
  EXPECT_EQ(exit_status(o), 0);
  EXPECT_THAT(outcome_text(o), AllOf(StartsWith("gate contended: WARNING\n"),
                                     HasSubstr("10 runs against 3 stored runs in 75 s")));
  o.found.stored = 1;
  o.found.metrics[0].shown = {};
  EXPECT_THAT(outcome_text(o), HasSubstr("n/a (1 stored run)"));
  EXPECT_EQ(outcome_cases(o)[0].how, how::skipped);
  EXPECT_EQ(outcome_cases(o)[0].type, "warning");
}

TEST(gate_markdown, is_short_and_no_name_is_taken_for_markup) {
  outcome o = made(3);
  o.candidate = "a|b <script>";
  const std::string text = outcome_markdown(o);
  EXPECT_THAT(text, AllOf(HasSubstr("lockmark gate contended: REGRESSION"),
                          HasSubstr("| commands_per_acquire | 2.000 | 3.000 | +50.0 % | exact |"),
                          Not(HasSubstr("<script>"))));
  EXPECT_LT(text.size(), report::most_markdown_bytes);
}

TEST(gate_junit, fails_for_a_regression_and_skips_what_is_inconclusive) {
  const auto cases = outcome_cases(made(3));
  ASSERT_EQ(cases.size(), known_metrics(true).size() + 1);
  EXPECT_EQ(cases[0].how, how::skipped);  // acquire_p50: one pair shows nothing
  EXPECT_EQ(cases[5].how, how::failed);
  EXPECT_EQ(cases[5].name, "commands_per_acquire");
  EXPECT_EQ(cases[6].how, how::passed);
  EXPECT_EQ(cases.back().how, how::failed);
  for (const auto& c : outcome_cases(made())) EXPECT_EQ(c.how, how::passed) << c.name;
}

TEST(gate_json, holds_every_figure) {
  const auto j = outcome_json(made(3));
  EXPECT_EQ(j.at("verdict"), "REGRESSION");
  EXPECT_EQ(j.at("exit_status"), 1);
  EXPECT_EQ(j.at("metrics").size(), known_metrics(true).size());
  EXPECT_EQ(j.at("metrics")[5].at("candidate"), 3);
  EXPECT_TRUE(j.at("metrics")[0].at("assessment").at("least").is_number());
  EXPECT_EQ(j.at("seed"), 7);
}

TEST(gate_history, is_a_line_and_becomes_csv) {
  const std::string history = history_line(made()) + "not ours\n" + history_line(made(3));
  EXPECT_EQ(std::count(history.begin(), history.end(), '\n'), 3);
  EXPECT_THAT(history, AllOf(HasSubstr("\"seed\":7,\"order\":\"bc\"")));
  const std::string csv = otava_csv(history, "history.jsonl");
  EXPECT_THAT(csv, StartsWith("time,commit,job,candidate,verdict,acquire_p50,acquire_p99,"));
  EXPECT_THAT(csv, HasSubstr("\n2026-11-21T10:00:00Z,abc123,contended,redis/lua on redis://"
                             "127.0.0.1:6380,REGRESSION,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  EXPECT_THROW(otava_csv("{}\n", "other.jsonl"), usage_error);
}

}  // namespace
}  // namespace lockmark::gate
