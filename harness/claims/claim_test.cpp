#include "harness/claims/claim.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/errors.hpp"
#include "harness/claims/report.hpp"
#include "workloads/jobs.hpp"

namespace lockmark::claims {
namespace {

using json = nlohmann::ordered_json;

const report::figure& grants_per_s = report::known_figure("tps");

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

using kind = condition::kind;

answer judged(const condition& c, const evidence& e) {
  claim what;
  what.true_if = {c};
  return judge(what, e).is;
}

answer order_of(std::vector<double> a, std::vector<double> b) {
  return judged({kind::falls, {"a", "b"}, &grants_per_s}, two_sides(std::move(a), std::move(b)));
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
  EXPECT_EQ(judged({kind::falls, {"a", "b"}, &grants_per_s}, evidence(runs)), answer::confirmed);
}

TEST(claims_falls, is_inconclusive_without_a_figure) {
  EXPECT_EQ(order_of({}, {1}), answer::inconclusive);
}

// two_hold: every run of each must be violated; one_holds: none.
TEST(claims_holders, are_two_in_every_run_or_in_none) {
  runs_by_label runs;
  runs["bad"] = {run_with(1, 3), run_with(1, 1)};
  runs["sometimes"] = {run_with(1, 3), run_with(1, 0)};
  runs["good"] = {run_with(1), run_with(1)};
  const evidence e(runs);
  EXPECT_EQ(judged({kind::two_hold, {"bad"}}, e), answer::confirmed);
  EXPECT_EQ(judged({kind::one_holds, {"good"}}, e), answer::confirmed);
  EXPECT_EQ(judged({kind::two_hold, {"sometimes"}}, e), answer::depends);
  EXPECT_EQ(judged({kind::two_hold, {"bad", "good"}}, e), answer::refuted);
  EXPECT_EQ(judged({kind::one_holds, {"sometimes"}}, e), answer::refuted);
  EXPECT_EQ(judged({kind::two_hold, {"absent"}}, e), answer::inconclusive);
}

TEST(claims_limits, are_for_every_run) {
  const evidence e = two_sides({10, 20}, {30, 31});
  EXPECT_EQ(judged({kind::above, {"a", "b"}, &grants_per_s, 9}, e), answer::confirmed);
  EXPECT_EQ(judged({kind::above, {"a", "b"}, &grants_per_s, 10}, e), answer::inconclusive);
  EXPECT_EQ(judged({kind::above, {"a", "b"}, &grants_per_s, 20}, e), answer::refuted);
  EXPECT_EQ(judged({kind::below, {"b"}, &grants_per_s, 32}, e), answer::confirmed);
  EXPECT_EQ(judged({kind::below, {"b"}, &grants_per_s, 31}, e), answer::inconclusive);
  EXPECT_EQ(judged({kind::below, {"b"}, &grants_per_s, 30}, e), answer::refuted);
  // From 1.5 to 3.1 times as many.
  EXPECT_EQ(judged({kind::steady, {"a", "b"}, &grants_per_s, 3.2}, e), answer::confirmed);
  EXPECT_EQ(judged({kind::steady, {"a", "b"}, &grants_per_s, 2}, e), answer::inconclusive);
  EXPECT_EQ(judged({kind::steady, {"a", "b"}, &grants_per_s, 1.5}, e), answer::refuted);
}

// What never happens happened, if it did in one run: there is nothing to be told apart.
TEST(claims_never, is_broken_by_a_single_run) {
  const evidence e = two_sides({0, 0}, {0, 1});
  EXPECT_EQ(judged({kind::never, {"a"}, &grants_per_s}, e), answer::confirmed);
  EXPECT_EQ(judged({kind::never, {"b"}, &grants_per_s}, e), answer::refuted);
  EXPECT_EQ(judged({kind::never, {"absent"}, &grants_per_s}, e), answer::inconclusive);
}

TEST(claims_recovery, is_a_grant_after_the_last_fault) {
  const auto run_after = [](json recovery) {
    auto run = run_with(1);
    run.content["faults"] = json::array({{{"recovery_ns", std::move(recovery)}}});
    return run;
  };
  runs_by_label runs;
  runs["back"] = {run_after(5), run_after(7)};
  runs["once"] = {run_after(5), run_after(nullptr)};
  runs["gone"] = {run_after(nullptr)};
  const evidence e(runs);
  EXPECT_EQ(judged({kind::recovers, {"back"}}, e), answer::confirmed);
  EXPECT_EQ(judged({kind::recovers, {"once"}}, e), answer::refuted);
  EXPECT_EQ(judged({kind::never_recovers, {"gone"}}, e), answer::confirmed);
  EXPECT_EQ(judged({kind::never_recovers, {"once"}}, e), answer::refuted);
}

TEST(claims_judge, wants_every_condition) {
  const evidence e = two_sides({30}, {20});
  claim what;
  const condition met{kind::above, {"a"}, &grants_per_s, 1};
  const condition not_met{kind::above, {"b"}, &grants_per_s, 25};
  what.true_if = {met, not_met};
  EXPECT_EQ(judge(what, e).is, answer::refuted);
  what.partly = answer::depends;
  EXPECT_EQ(judge(what, e).is, answer::depends);
  what.true_if = {not_met};
  EXPECT_EQ(judge(what, e).is, answer::refuted);
  what.true_if = {met, {kind::above, {"absent"}, &grants_per_s, 1}};
  EXPECT_EQ(judge(what, e).is, answer::inconclusive);
}

// A claim may be true for another reason than the one that is given.
TEST(claims_judge, holds_the_explanation_against_the_runs) {
  const evidence e = two_sides({30}, {20});
  claim what;
  what.true_if = {{kind::falls, {"a", "b"}, &grants_per_s}};
  EXPECT_EQ(judge(what, e).explanation, "");
  what.explained_if = {{kind::above, {"b"}, &grants_per_s, 25}};
  const judgement j = judge(what, e);
  EXPECT_EQ(j.is, answer::confirmed);
  EXPECT_EQ(j.explained, answer::refuted);
  EXPECT_EQ(j.explanation, "grants per second: b 20.0/s");
}

std::string refusal(std::string_view text) {
  try {
    read_claims(text, "claims.yaml");
  } catch (const usage_error& e) {
    return e.what();
  }
  return "";
}

TEST(claims_file, is_refused_with_line_and_reason) {
  const std::string head =
      "- claim: 1\n  says: s\n  predicts: p\n  mind: m\n"
      "  runs: {a: {job: j, lock: l, topology: t}}\n";
  EXPECT_EQ(refusal(head + "  true_if: [{two_hold: [a]}]\n"), "");
  EXPECT_EQ(refusal(head + "  true_if: [{two_hold: [b]}]\n"),
            "claims.yaml:6: no run is called \"b\"");
  EXPECT_THAT(
      refusal(head + "  true_if: [{falls: [a], figure: speed}]\n"),
      testing::StartsWith("claims.yaml:6: no figure \"speed\"; known are success_rate, tps, "));
  EXPECT_THAT(refusal(head + "  true_if: [{odd: [a]}]\n"), testing::HasSubstr("one of falls"));
  EXPECT_EQ(refusal(head + "  true_if: [{one_holds: [a], limit: 3}]\n"),
            "claims.yaml:6: no key \"limit\"; known are one_holds");
  EXPECT_EQ(refusal(head + "  true_if: [{falls: [a], figure: tps, limit: 3}]\n"),
            "claims.yaml:6: no key \"limit\"; known are falls, figure");
  EXPECT_EQ(refusal(head + "  true_if: [{above: [a], figure: tps, limit: 3q}]\n"),
            "claims.yaml:6: limit: expected a number or a duration, not \"3q\"");
  EXPECT_THAT(refusal(head + "  true_if: [{one_holds: [a]}]\n  party: depends\n"),
              testing::StartsWith("claims.yaml:7: no key \"party\"; known are claim, says, "));
  EXPECT_THAT(refusal(head), testing::HasSubstr("needs runs and true_if"));
  EXPECT_THAT(refusal("- claim: 1\n"), testing::HasSubstr("a claim needs says"));
  EXPECT_THAT(refusal("- [\n"), testing::StartsWith("claims.yaml:2: "));
}

// Thirteen claims are required; some are several statements.
TEST(claims_table, has_all_thirteen_each_with_a_prediction_and_its_condition) {
  int last = 0;
  for (const claim& c : read_claims(workloads::shipped_claims(), "claims.yaml")) {
    const int number = std::stoi(c.id);
    EXPECT_TRUE(number == last || number == last + 1) << c.id;
    last = number;
    for (const experiment& x : c.experiments) {
      EXPECT_TRUE(workloads::shipped_jobs().contains(x.job)) << c.id << ": " << x.job;
    }
    // Without evidence there is no verdict.
    EXPECT_EQ(judge(c, evidence({})).is, answer::inconclusive) << c.id;
  }
  EXPECT_EQ(last, 13);
}

// For a terminal: no markup, no line beyond the width, and the command as the user types it.
TEST(claims_report, on_a_terminal) {
  for (const claim& c : read_claims(workloads::shipped_claims(), "claims.yaml")) {
    const std::vector<tested> all{{c, evidence({}), judge(c, evidence({}))}};
    const std::string text = to_text(all, 80, "./lockmark");
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("**")));
    EXPECT_THAT(text, testing::EndsWith("Again: ./lockmark claims " + c.id + "\n"));
    EXPECT_THAT(text, testing::HasSubstr("inconclusive by 0 runs of each experiment: "));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }
}

}  // namespace
}  // namespace lockmark::claims
