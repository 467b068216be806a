#include "harness/claims/evidence.hpp"

#include <gtest/gtest.h>

#include "harness/claims/claim.hpp"
#include "harness/claims/verdicts.hpp"

namespace lockmark::claims {
namespace {

using json = nlohmann::ordered_json;

report::recorded_run run_with(double tps, int violations = 0, bool complete = true) {
  json content;
  content["run"] = {{"complete", complete}};
  content["tps"] = tps;
  content["verdict"] = {{"violations", violations}};
  return {"run", content};
}

evidence two_sides(std::vector<double> a, std::vector<double> b) {
  runs_by_label runs;
  for (const double tps : a) runs["a"].push_back(run_with(tps));
  for (const double tps : b) runs["b"].push_back(run_with(tps));
  return evidence(std::move(runs));
}

answer order_of(std::vector<double> a, std::vector<double> b) {
  return falls(two_sides(std::move(a), std::move(b)), {"a", "b"}, "/tps", unit::per_second).is;
}

TEST(claims_falls, is_confirmed_only_where_ranges_do_not_touch) {
  EXPECT_EQ(order_of({30, 31, 29}, {20, 21, 22}), answer::confirmed);
  EXPECT_EQ(order_of({20, 21, 22}, {30, 31, 29}), answer::refuted);
  EXPECT_EQ(order_of({20, 31, 22}, {30, 21, 29}), answer::inconclusive);
}

TEST(claims_falls, leaves_out_runs_that_were_not_finished) {
  runs_by_label runs;
  runs["a"] = {run_with(30), run_with(1, 0, false)};
  runs["b"] = {run_with(20)};
  const auto j = falls(evidence(runs), {"a", "b"}, "/tps", unit::per_second);
  EXPECT_EQ(j.is, answer::confirmed);
}

TEST(claims_falls, is_inconclusive_without_a_figure) {
  EXPECT_EQ(order_of({}, {1}), answer::inconclusive);
}

TEST(claims_breaks, wants_each_run_violated_and_no_safe_one) {
  runs_by_label runs;
  runs["bad"] = {run_with(1, 3), run_with(1, 1)};
  runs["sometimes"] = {run_with(1, 3), run_with(1, 0)};
  runs["good"] = {run_with(1), run_with(1)};
  const evidence e(runs);
  EXPECT_EQ(breaks(e, {"bad"}, {"good"}).is, answer::confirmed);
  EXPECT_EQ(breaks(e, {"sometimes"}, {}).is, answer::depends);
  EXPECT_EQ(breaks(e, {"good"}, {}).is, answer::refuted);
  EXPECT_EQ(breaks(e, {"bad"}, {"sometimes"}).is, answer::refuted);
  EXPECT_EQ(breaks(e, {"absent"}, {}).is, answer::inconclusive);
}

// Thirteen claims were asked for; some are several statements.
TEST(claims_table, has_all_thirteen_each_with_a_prediction_and_its_condition) {
  int last = 0;
  for (const claim& c : all_claims()) {
    const int number = std::stoi(c.id);
    EXPECT_TRUE(number == last || number == last + 1) << c.id;
    last = number;
    EXPECT_FALSE(c.predicts.empty()) << c.id;
    EXPECT_FALSE(condition_of(c.id).empty()) << c.id;
    EXPECT_FALSE(c.experiments.empty()) << c.id;
    ASSERT_NE(c.judge, nullptr) << c.id;
    // A judge without evidence must not invent a verdict in favour.
    EXPECT_NE(c.judge(evidence({})).is, answer::confirmed) << c.id;
  }
  EXPECT_EQ(last, 13);
}

}  // namespace
}  // namespace lockmark::claims
