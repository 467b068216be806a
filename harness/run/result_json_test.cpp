// The contents of run.json for a result with known figures.
#include "harness/run/result_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "harness/run/run_job.hpp"
#include "harness/run/sample_result.hpp"

namespace lockmark::run {
namespace {

using json = nlohmann::ordered_json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

json quantile(const json& content, const char* which, double q) {
  for (const json& entry : content["quantiles"][which]["quantiles"]) {
    if (entry["q"] == q) return entry;
  }
  return {};
}

// Counts, rates and shares of the whole.
TEST(result_json, counts_and_rates) {
  const json j = to_json(sample_run{}.r);
  EXPECT_EQ(j["schema_version"], "1.11");
  EXPECT_EQ(j["samples"], 5'020);
  EXPECT_EQ(j["counts"]["granted"], 4'769);
  EXPECT_EQ(j["counts"]["refused_deadline"], 251);
  EXPECT_DOUBLE_EQ(j["success_rate"].get<double>(), 0.95);
  EXPECT_DOUBLE_EQ(j["tps"].get<double>(), 980);
  EXPECT_EQ(j["run"]["started_utc"], "2026-01-31T09:05:07Z");
  EXPECT_EQ(j["run"]["keys"], 1);
}

// Five of a hundred attempts never got the lock: p90 is a number, p99 only known to exceed T.
TEST(result_json, quantiles_are_over_all_attempts) {
  const json j = to_json(sample_run{}.r);
  const json p90 = quantile(j, "response", 0.9);
  EXPECT_EQ(p90["n"], 5'020);
  EXPECT_NEAR(p90["value_ns"].get<double>(), 18.03e6, 0.02e6);
  EXPECT_LE(p90["low_ns"], p90["value_ns"]);
  EXPECT_GE(p90["high_ns"], p90["value_ns"]);
  const json p99 = quantile(j, "response", 0.99);
  EXPECT_EQ(p99["value_ns"], "> 1000000000");
  EXPECT_EQ(p99["supported"], true);
  EXPECT_EQ(quantile(j, "service", 0.99)["value_ns"], "> 1000000000");
  EXPECT_EQ(j["quantiles"]["response"]["max_ns"], "> 1000000000");
}

// A quantile that the sample does not support is null, not a guess.
TEST(result_json, unsupported_quantiles_are_null) {
  const json j = to_json(sample_run{}.r);
  const json p9999 = quantile(j, "response", 0.9999);
  EXPECT_EQ(p9999["supported"], false);
  EXPECT_TRUE(p9999["value_ns"].is_null());
  EXPECT_TRUE(p9999["high_ns"].is_null());
}

// Five transfers tell nothing about their p99, nor even about their median.
TEST(result_json, few_handoffs_have_a_maximum_only) {
  sample_run s;
  s.r.found.transfer.reset();
  s.r.found.transfer.record(800'000, 5);
  const json j = to_json(s.r)["handoff"]["transfer"];
  EXPECT_EQ(j["count"], 5);
  EXPECT_TRUE(j["p50_ns"].is_null());
  EXPECT_TRUE(j["p99_ns"].is_null());
  EXPECT_EQ(j["max_ns"], 800'000);
}

// Held for 4 s and handed over for 0.99 s of 5 s on one key: the books balance to 0.2 %.
TEST(result_json, handoff_and_the_saturated_identity) {
  const json j = to_json(sample_run{}.r)["handoff"];
  EXPECT_DOUBLE_EQ(j["held_share"].get<double>(), 0.8);
  EXPECT_DOUBLE_EQ(j["idle_while_wanted_share"].get<double>(), 0.2);
  EXPECT_DOUBLE_EQ(j["saturated_identity"].get<double>(), 0.998);
  EXPECT_EQ(j["transfer"]["count"], 4'000);
}

// With several keys there is no such identity, and shares are of all keys' time.
TEST(result_json, several_keys_share_the_time) {
  sample_run s;
  s.r.job.keys.kind = config::key_choice::shape::own;
  const json j = to_json(s.r)["handoff"];
  EXPECT_DOUBLE_EQ(j["held_share"].get<double>(), 0.8 / 16);
  EXPECT_TRUE(j["saturated_identity"].is_null());
}

// Costs are per grant of the whole load, including warm-up.
TEST(result_json, cost_per_acquire) {
  const json j = to_json(sample_run{}.r)["cost_per_acquire"];
  EXPECT_DOUBLE_EQ(j["client_commands_per_grant"].get<double>(), 2);
  EXPECT_DOUBLE_EQ(j["server_commands_per_grant"].get<double>(), 3);
  EXPECT_DOUBLE_EQ(j["bytes_out_per_grant"].get<double>(), 100);
  EXPECT_EQ(j["server"]["cmd.evalsha"], 12'000);
}

// Zero violations in 5000 requests that met a hold: less than 3 in 5000, with 95 % confidence.
TEST(result_json, exposure_by_the_rule_of_three) {
  sample_run s;
  json j = to_json(s.r)["verdict"];
  EXPECT_EQ(j["held"], true);
  EXPECT_DOUBLE_EQ(j["exposure"]["violation_share_below_95"].get<double>(), 3.0 / 5'000);
  s.r.found.certain_violations = 1;
  j = to_json(s.r)["verdict"];
  EXPECT_EQ(j["held"], false);
  EXPECT_TRUE(j["exposure"]["violation_share_below_95"].is_null());
}

// An optimistic lock has no holds and no hand-off; its violations are lost updates.
TEST(result_json, optimistic_locks) {
  sample_run s;
  s.r.lock_has = feature::optimistic;
  s.r.found.lost_updates = 2;
  const json j = to_json(s.r);
  EXPECT_EQ(j["verdict"]["violations"], 2);
  EXPECT_EQ(j["verdict"]["exposure"]["of"], "commits that met another");
  EXPECT_TRUE(j["handoff"]["transfer"].is_null());
  EXPECT_TRUE(j["handoff"]["held_share"].is_null());
}

// Both holders by number and name, with their intervals since the window began.
TEST(result_json, violations_name_both_holders) {
  sample_run s;
  s.r.found.violations = {sample_violation(s.r)};
  const json v = to_json(s.r)["safety"]["examples"][0];
  EXPECT_EQ(v["overlap_ns"], 20'000'000);
  EXPECT_EQ(v["first"]["who"], "instance 0 client 1");
  EXPECT_EQ(v["second"]["who"], "instance 1 client 2");
  EXPECT_EQ(v["second"]["client"], 6);
  EXPECT_EQ(v["second"]["granted_ns"], 120'000'000);
  EXPECT_EQ(v["second"]["release_sent_ns"], 155'000'000);
}

// In columns, with times since the window began; without holds there is no picture.
TEST(result_json, holds_for_pictures) {
  sample_run s;
  EXPECT_TRUE(to_json(s.r)["safety"]["holds"].empty());
  const check::violation v = sample_violation(s.r);
  s.r.found.first_holds = {
      3, {v.first, v.second}, {{v.second.granted_ns, v.first.release_sent_ns}}};
  const json all = to_json(s.r)["safety"]["holds"];
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["which"], "first");
  EXPECT_EQ(all[0]["key"], 3);
  EXPECT_EQ(all[0]["client"], json({1, 6}));
  EXPECT_EQ(all[0]["granted_ns"], json({100'000'000, 120'000'000}));
  EXPECT_EQ(all[0]["release_sent_ns"], json({140'000'000, 155'000'000}));
  EXPECT_EQ(all[0]["overlaps"][0]["from_ns"], 120'000'000);
  EXPECT_EQ(all[0]["overlaps"][0]["to_ns"], 140'000'000);
}

// Without a guarded resource the section is null; with one, two holders show.
TEST(result_json, the_guarded_resource) {
  sample_run s;
  EXPECT_TRUE(to_json(s.r)["safety"]["guard"].is_null());
  s.r.found.guard = check::guard_counts{
      .writes = 4'900, .lost_updates = 2, .stale_accesses = 6, .misjudged_without_order = 1};
  const json j = to_json(s.r);
  EXPECT_EQ(j["safety"]["guard"]["writes"], 4'900);
  EXPECT_EQ(j["safety"]["guard"]["stale_accesses"], 6);
  EXPECT_EQ(j["safety"]["guard"]["misjudged_without_order"], 1);
  EXPECT_EQ(j["safety"]["guard"]["fenced"], false);
  EXPECT_EQ(j["verdict"]["violations"], 3) << "six stale accesses are at least three holds";
  EXPECT_EQ(j["verdict"]["held"], false);
}

// INVALID is not a bound, whatever else the verdict says.
TEST(result_json, invalid_is_never_a_bound) {
  sample_run s;
  s.r.verdict.bound = true;
  EXPECT_EQ(to_json(s.r)["verdict"]["bound"], ">=");
  s.r.verdict.valid = false;
  EXPECT_TRUE(to_json(s.r)["verdict"]["bound"].is_null());
}

// Unknown values are present as null; NaN is null.
TEST(result_json, unknown_is_null_and_never_left_out) {
  const json whole = to_json(sample_run{}.r);
  result blank;
  blank.self.littles_law_difference = std::numeric_limits<double>::quiet_NaN();
  const json empty = to_json(blank);
  for (const auto& [section, value] : whole.items()) {
    ASSERT_TRUE(empty.contains(section)) << section;
    if (!value.is_object()) continue;
    for (const auto& item : value.items()) {
      EXPECT_TRUE(empty[section].contains(item.key())) << section << "." << item.key();
    }
  }
  EXPECT_TRUE(empty["success_rate"].is_null());
  EXPECT_TRUE(empty["fairness"]["jain_run"].is_null());
  EXPECT_TRUE(empty["harness"]["littles_law"]["relative_difference"].is_null());
  EXPECT_TRUE(empty["harness"]["floor"].is_null());
  EXPECT_TRUE(empty["provenance"]["server"].is_null());
}

// Arguments may contain any bytes; the file is still UTF-8.
TEST(result_json, bytes_that_are_no_text) {
  sample_run s;
  s.r.arguments = {"lockmark", "\xff\xfe"};
  EXPECT_TRUE(json::accept(dump(to_json(s.r))));
}

// Totals hide it: each worst client by name, a p99 that too few attempts support as null.
TEST(result_json, tells_of_the_worst_clients) {
  sample_run s;
  json j = to_json(s.r)["fairness"];
  EXPECT_EQ(j["worst_success"],
            (json{{"client", 3}, {"attempts", 310}, {"granted", 279}, {"rate", 0.9}}));
  EXPECT_EQ(j["worst_response"]["client"], 5);
  EXPECT_EQ(j["worst_response"]["quantiles"][0]["value_ns"], "> 1000000000");
  EXPECT_EQ(j["starvation"], json::array());
  s.r.found.clients.highest_p99->supported = false;
  s.r.found.clients.lowest_success.reset();
  j = to_json(s.r)["fairness"];
  EXPECT_TRUE(j["worst_response"]["quantiles"][0]["value_ns"].is_null());
  EXPECT_TRUE(j["worst_success"].is_null());
  s.r.found.clients.highest_p99.reset();
  s.r.found.clients.too_many_for_quantiles = true;
  j = to_json(s.r)["fairness"];
  EXPECT_EQ(j["worst_response"]["why_unknown"], "more than 400 clients");
}

std::vector<std::string> starvation_of(const result& r) {
  return texts_of(r.starvation());
}

// Four of sixteen clients took all grants.
TEST(starvation, is_said_in_words) {
  sample_run s;
  EXPECT_THAT(starvation_of(s.r), IsEmpty());
  s.r.found.grants_by_client.assign(16, 0);
  std::fill_n(s.r.found.grants_by_client.begin(), 4, 1'000);
  s.r.found.clients.never_granted = 12;
  const auto both =
      ElementsAre("starvation: of 16 clients, 12 never got the lock during the measurement",
                  "starvation: of 16 clients, the luckiest 4 had 100 % of the grants");
  EXPECT_THAT(starvation_of(s.r), both);
  EXPECT_EQ(to_json(s.r)["fairness"]["starvation"][0]["id"], "never_granted");
  judge_run(s.r, 2);
  EXPECT_TRUE(s.r.verdict.valid) << "the figures are right, however unfair the lock";
  EXPECT_THAT(texts_of(s.r.verdict.reasons), Not(Contains(HasSubstr("starvation"))));
}

// Who hardly waits for grants is unlucky, or asked less; that is no finding.
TEST(starvation, is_not_said_of_chance) {
  sample_run s;
  auto& grants = s.r.found.grants_by_client;
  grants.assign(16, 0);
  grants[0] = 40;
  EXPECT_THAT(starvation_of(s.r), IsEmpty()) << "three grants a client";
  grants[0] = 1'000;
  EXPECT_THAT(starvation_of(s.r), SizeIs(1));
  s.r.job.loop = config::loop_kind::open;
  EXPECT_THAT(starvation_of(s.r), IsEmpty()) << "the load chose which clients asked";
  s.r.job.loop = config::loop_kind::closed;
  for (std::size_t c = 0; c < 16; ++c) grants[c] = 100 + 60 * c;
  EXPECT_THAT(starvation_of(s.r), IsEmpty()) << "uneven, with Jain's index 0.79";
  grants.clear();
  EXPECT_THAT(starvation_of(s.r), IsEmpty());
}

timeline_point point(std::uint64_t attempts, stats::quantile_ns p50) {
  timeline_point p;
  p.attempts = attempts;
  p.response_p50 = p50;
  return p;
}

// A lock that grants fast and then hardly at all: its grants are as fast as ever.
TEST(stability, is_of_all_attempts) {
  std::vector<timeline_point> all(10, point(100, {1'000'000, false}));
  EXPECT_FALSE(stability_of(all).drifts);
  for (std::size_t i = 0; i < 10; ++i) {
    const bool late = i >= 5;
    all[i] = point(100, {late ? 1'000'000'000 : 1'000'000 + static_cast<std::int64_t>(i), late});
  }
  const stability found = stability_of(all);
  EXPECT_TRUE(found.drifts);
  EXPECT_EQ(found.first, (stats::quantile_ns{1'000'001, false}));
  EXPECT_EQ(found.last, (stats::quantile_ns{1'000'000'000, true}));
}

// Half seconds in which nothing ended say nothing; p50 is not 0 there.
TEST(stability, passes_over_intervals_without_attempts) {
  std::vector<timeline_point> all(10, point(100, {1'000'000, false}));
  for (std::size_t i = 0; i < 5; ++i) all[i] = point(0, {});
  EXPECT_FALSE(stability_of(all).drifts);
  EXPECT_EQ(stability_of(all).first.value_ns, 1'000'000);
  all.resize(8);
  EXPECT_FALSE(stability_of(all).known) << "three values";
}

}  // namespace
}  // namespace lockmark::run
