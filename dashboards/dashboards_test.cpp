// Runs every query of every dashboard and rule through the API of a real Prometheus that has
// watched a real run on a real Redis, by scraping it and through a real Pushgateway. Prometheus
// must have seen the figures of run.json.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "dashboards/queries.hpp"
#include "dashboards/watched_run.hpp"
#include "deploy/local/cluster.hpp"

namespace lockmark::dashboards {
namespace {

using json = nlohmann::json;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr const char* files[] = {"live.json", "comparison.json", "safety.json"};

json dashboard(std::string_view file) {
  std::ifstream in(fmt::format("dashboards/{}", file));
  return json::parse(in);
}

// Queries that return nothing in a run without errors, and why.
const std::map<std::string, std::string>& silent_when_well() {
  static const std::map<std::string, std::string> all = [] {
    std::map<std::string, std::string> made;
    for (const char* file : files) {
      made[fmt::format("{}: annotation 'faults'", file)] = "the job injects no fault";
    }
    return made;
  }();
  return all;
}

bool has_a_number(const std::vector<series>& all) {
  return std::ranges::any_of(all, [](const series& s) {
    return std::ranges::any_of(s.values, [](double v) { return std::isfinite(v); });
  });
}

// A legend must not name a label that no series has: its name would be empty on the screen.
void expect_legend_fits(const query& q, const std::vector<series>& answered) {
  for (const std::string& label : labels_in_legend(q.legend)) {
    for (const series& s : answered) {
      if (s.labels.empty()) continue;  // "or vector(0)": no labels to name
      EXPECT_EQ(s.labels.count(label), 1u) << q.where << ": {{" << label << "}}";
    }
  }
}

// "label_values(SELECTOR, LABEL)", as Grafana asks for a variable's choices.
void expect_choices(const watched_run& run, const query& q, const std::string& expr) {
  const auto comma = expr.rfind(", ");
  const auto begin = expr.find('(') + 1;
  const std::string label = expr.substr(comma + 2, expr.size() - comma - 3);
  EXPECT_THAT(run.seen_by().label_values(expr.substr(begin, comma - begin), label, run.when()),
              Not(IsEmpty()))
      << q.where << ": " << expr;
}

void expect_data(const watched_run& run, const query& q) {
  const std::string expr = with_variables(q.expr, run.variables());
  if (expr.starts_with("label_values(")) return expect_choices(run, q, expr);
  const auto answered = run.seen_by().ask(expr, run.when());
  expect_legend_fits(q, answered);
  if (silent_when_well().contains(q.where)) {
    EXPECT_FALSE(has_a_number(answered)) << q.where << " does say something; take it off the list";
  } else {
    EXPECT_TRUE(has_a_number(answered)) << q.where << " returns nothing: " << expr;
  }
}

// --- one run on Redis, watched in two ways ---

std::string name_of(const testing::TestParamInfo<way>& with) {
  return with.param == way::scraped ? "scraped" : "pushed";
}

class watched_runs : public testing::TestWithParam<way> {
 protected:
  static void TearDownTestSuite() { runs().clear(); }

  // The first test that needs a run makes it. Long enough for two looks at the server's counters.
  static const watched_run& run() {
    std::unique_ptr<watched_run>& made = runs()[GetParam()];
    if (!made) {
      local::cluster redis = local::cluster::start("redis");
      made = std::make_unique<watched_run>(
          GetParam(), std::vector<std::string>{"run", "contended", "--on", redis.target(), "--set",
                                               "lock=redis/redisson_fair", "--set", "hold=1ms",
                                               "--set", "wait=5s", "--set", "stop.duration=12s",
                                               "--set", "stop.at_most=12s", "--set",
                                               "stop.samples=0", "--set", "floor=0s"});
    }
    return *made;
  }

 private:
  static std::map<way, std::unique_ptr<watched_run>>& runs() {
    static std::map<way, std::unique_ptr<watched_run>> all;
    return all;
  }
};

TEST_P(watched_runs, give_data_to_every_query_of_every_dashboard) {
  std::size_t asked = 0;
  std::size_t silent = 0;
  for (const char* file : files) {
    for (const query& q : queries_of(file, dashboard(file))) {
      expect_data(run(), q);
      ++asked;
      silent += silent_when_well().count(q.where);
    }
  }
  EXPECT_GT(asked, 90u) << "a check that looks at nothing";
  EXPECT_EQ(silent, silent_when_well().size()) << "the list names a query that does not exist";
}

// Shows that the checks for parsing and for returned data can fail.
TEST_P(watched_runs, give_nothing_to_a_query_of_what_is_not_there) {
  const auto asked = [](const char* expr) { return run().seen_by().ask(expr, run().when()); };
  EXPECT_TRUE(has_a_number(asked("lockmark_grants_total")));
  EXPECT_FALSE(has_a_number(asked("lockmark_grant_total")));
  EXPECT_FALSE(has_a_number(asked("lockmark_grants_total / 0 - lockmark_grants_total / 0")));
  EXPECT_THAT(run().seen_by().label_values("lockmark_runs", "lock", run().when()), IsEmpty());
  EXPECT_NONFATAL_FAILURE(asked("sum by (lock (lockmark_grants_total)"), "parse error");
  const query wrong{"wrong", "lockmark_grants_total", "{{client}}"};
  EXPECT_NONFATAL_FAILURE(expect_legend_fits(wrong, asked("lockmark_grants_total")), "client");
}

TEST_P(watched_runs, give_data_to_every_recording_rule) {
  int recorded = 0;
  for (const rule& r : rules_of("deploy/prometheus/rules.yml")) {
    EXPECT_TRUE(has_a_number(run().seen_by().ask(r.name, run().when()))) << r.name;
    EXPECT_TRUE(has_a_number(run().seen_by().ask(r.expr, run().when()))) << r.expr;
    ++recorded;
  }
  EXPECT_GT(recorded, 5);
}

// Prometheus itself reports that every rule can be evaluated. The alerts about the lock, which is
// correct, are quiet; others may fire on a busy machine.
TEST_P(watched_runs, let_every_rule_be_evaluated) {
  std::vector<std::string> names;
  for (const json& group : run().seen_by().rules()) {
    for (const json& r : group.at("rules")) {
      const std::string name = r.at("name");
      names.push_back(name);
      EXPECT_EQ(r.value("health", ""), "ok") << r.dump();
    }
  }
  std::vector<std::string> expected;
  for (const char* file : {"deploy/prometheus/rules.yml", "deploy/prometheus/alerts.yml"}) {
    for (const rule& r : rules_of(file)) {
      expected.push_back(r.name);
      run().seen_by().ask(r.expr, run().when());
    }
  }
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(expected));
  const char* bad = R"(ALERTS{alertname=~"LockmarkViolation|LockmarkRenewalLost|)"
                    R"(LockmarkReleaseNotOwner|LockmarkServerSilent|LockmarkRunInvalid"})";
  EXPECT_THAT(run().seen_by().ask(bad, run().when()), IsEmpty());
}

TEST_P(watched_runs, count_what_run_json_counts) {
  const json told = run().told();
  const json& counts = told.at("counts");
  for (const char* outcome : {"granted", "refused_busy", "refused_deadline", "refused_conflict",
                              "unavailable", "doubt_deadline", "doubt_lost", "in_flight_at_end"}) {
    EXPECT_EQ(run().last(fmt::format(R"(lockmark_attempts_total{{outcome="{}"}})", outcome)),
              counts.at(outcome).get<double>())
        << outcome;
  }
  EXPECT_GT(counts.at("granted").get<int>(), 100);
  EXPECT_EQ(run().last("lockmark_tries_total"), counts.at("tries").get<double>());
  EXPECT_EQ(run().last("lockmark_dropped_total"), counts.at("dropped").get<double>());
  const double window_s = told.at("run").at("window_s");
  EXPECT_NEAR(run().last("lockmark_grants_total"), told.at("tps").get<double>() * window_s, 0.5);
  EXPECT_EQ(run().last("lockmark_chances_total"),
            told.at("verdict").at("exposure").at("chances").get<double>());
  EXPECT_EQ(told.at("verdict").at("violations"), 0);
  EXPECT_EQ(run().seen_by().value("sum(last_over_time(lockmark_violations_total[2m]))",
                                  run().when().end_s),
            0);
  EXPECT_NEAR(run().last("lockmark_fairness_ratio"),
              told.at("fairness").at("jain_windowed").get<double>(), 1e-6);
  EXPECT_NEAR(run().last("lockmark_longest_gap_seconds"),
              told.at("longest_gap").at("length_ns").get<double>() / 1e9, 1e-6);
}

// The bucket of METRICS.md that contains a duration: 1, 2, 3, 5 times powers of ten.
struct bucket {
  double above_s = 0;
  double up_to_s = 60;
};
bucket bucket_of(double s) {
  std::vector<double> bounds{0.00005};
  for (double power = 0.0001; power < 100; power *= 10) {
    for (const double factor : {1.0, 2.0, 3.0, 5.0}) {
      if (factor * power < 31) bounds.push_back(factor * power);
    }
  }
  bounds.push_back(60);
  const auto above = std::ranges::lower_bound(bounds, s * (1 - 1e-9));
  if (above == bounds.end()) return {60, 60};
  return {above == bounds.begin() ? 0 : *std::prev(above), *above};
}

TEST(buckets, are_those_of_the_contract) {
  EXPECT_DOUBLE_EQ(bucket_of(0.00001).up_to_s, 0.00005);
  EXPECT_DOUBLE_EQ(bucket_of(0.004).above_s, 0.003);
  EXPECT_DOUBLE_EQ(bucket_of(0.004).up_to_s, 0.005);
  EXPECT_DOUBLE_EQ(bucket_of(0.003).up_to_s, 0.003);
  EXPECT_DOUBLE_EQ(bucket_of(31).up_to_s, 60);
}

// HDR histograms are exact to three digits, hence 1 %: a value at the very edge of a bucket may be
// counted in the next one.
void expect_in_bucket(const watched_run& run, double q, const std::string& histogram,
                      const json& exact_ns) {
  ASSERT_TRUE(exact_ns.is_number()) << histogram << " has no p" << q * 100 << " in run.json";
  const bucket b = bucket_of(exact_ns.get<double>() / 1e9);
  const double seen = run.seen_by().value(
      fmt::format("histogram_quantile({}, sum without (outcome) (last_over_time({}[2m])))", q,
                  histogram),
      run.when().end_s);
  EXPECT_GE(seen, b.above_s * 0.99) << histogram << " p" << q * 100;
  EXPECT_LE(seen, b.up_to_s * 1.01) << histogram << " p" << q * 100;
}

json quantile_of(const json& all_attempts, double q) {
  for (const json& each : all_attempts.at("quantiles")) {
    if (each.at("q") == q) return each.at("value_ns");
  }
  return {};
}

TEST_P(watched_runs, have_the_latencies_of_run_json_within_a_bucket) {
  const json told = run().told();
  for (const char* phase : {"response", "service"}) {
    const std::string buckets =
        fmt::format(R"(lockmark_acquire_duration_seconds_bucket{{phase="{}"}})", phase);
    const json& all_attempts = told.at("quantiles").at(phase);
    for (const double q : {0.5, 0.99}) {
      expect_in_bucket(run(), q, buckets, quantile_of(all_attempts, q));
    }
  }
  const json& transfer = told.at("handoff").at("transfer");
  const std::string buckets = R"(lockmark_handoff_duration_seconds_bucket{kind="transfer"})";
  expect_in_bucket(run(), 0.5, buckets, transfer.at("p50_ns"));
  expect_in_bucket(run(), 0.99, buckets, transfer.at("p99_ns"));
  const json& held = told.at("durations").at("hold");
  expect_in_bucket(run(), 0.5, "lockmark_hold_duration_seconds_bucket", held.at("p50_ns"));
}

// The comparison's tables, computed from Prometheus's data, show run.json's figures.
TEST_P(watched_runs, are_compared_by_the_figures_of_run_json) {
  const json told = run().told();
  const json board = dashboard("comparison.json");
  std::map<std::string, std::string> by_unit;
  for (const query& q : queries_of("comparison.json", board)) by_unit[q.where] = q.expr;
  const auto shown = [&](const std::string& panel) {
    const std::string& expr = by_unit.at(fmt::format("comparison.json: panel '{}' A", panel));
    return run().seen_by().value(with_variables(expr, run().variables()), run().when().end_s);
  };
  EXPECT_NEAR(shown("Success"), told.at("success_rate").get<double>(), 1e-9);
  const double tps = told.at("tps");
  EXPECT_NEAR(shown("Grants per second"), tps, 1e-6 * tps);
  const double commands = told.at("cost_per_acquire").at("client_commands_per_grant");
  EXPECT_NEAR(shown("Commands per grant"), commands, 0.2 * commands);
}

INSTANTIATE_TEST_SUITE_P(on_redis, watched_runs, testing::Values(way::scraped, way::pushed),
                         name_of);

// A lock that admits two holders at once: the dashboards show what run.json says, and the alert
// fires.
TEST(broken_lock, is_seen_to_be_broken) {
  const watched_run run(way::scraped,
                        {"run", "contended", "--on", "memory:", "--set", "lock=faulty/lock",
                         "--set", "options.two_holders=100", "--set", "hold=1ms", "--set",
                         "stop.duration=8s", "--set", "stop.at_most=8s", "--set", "stop.samples=0"},
                        1);
  const json told = run.told();
  const json& safety = told.at("safety");
  EXPECT_GT(safety.at("certain_violations").get<int>(), 0);
  EXPECT_EQ(run.last(R"(lockmark_violations_total{kind="certain"})"),
            safety.at("certain_violations").get<double>());
  EXPECT_EQ(run.last(R"(lockmark_violations_total{kind="stale_token"})"),
            safety.at("stale_tokens").get<double>());
  EXPECT_THAT(run.seen_by().ask(R"(ALERTS{alertname="LockmarkViolation", alertstate="firing"})",
                                run.when()),
              Not(IsEmpty()));
  for (const query& q : queries_of("safety.json", dashboard("safety.json"))) {
    if (q.where.find("Two holders") == q.where.npos) continue;
    const auto answered = run.seen_by().ask(with_variables(q.expr, run.variables()), run.when());
    ASSERT_EQ(answered.size(), 1u);
    EXPECT_GT(answered[0].values.back(), 0) << q.expr;
  }
}

// Two locks one after the other, as a table measures them: one row each.
TEST(table, is_compared_lock_by_lock) {
  const watched_run run(way::pushed, {"table", "--topologies", "redis", "--locks", "redis/lua",
                                      "--locks", "redis/setnx", "--scenarios", "contended",
                                      "--repeats", "1", "--set", "stop.duration=5s", "--set",
                                      "stop.at_most=5s"});
  EXPECT_EQ(run.told_by_each().size(), 2u);
  for (const query& q : queries_of("comparison.json", dashboard("comparison.json"))) {
    if (q.where.find("'Locks side by side'") == q.where.npos) continue;
    const auto answered = run.seen_by().ask(with_variables(q.expr, run.variables()),
                                            {run.when().end_s, run.when().end_s});
    std::vector<std::string> locks;
    for (const series& s : answered) locks.push_back(s.labels.at("lock"));
    EXPECT_THAT(locks, UnorderedElementsAre("redis/lua", "redis/setnx")) << q.expr;
  }
}

}  // namespace
}  // namespace lockmark::dashboards
