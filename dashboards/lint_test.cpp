// The committed dashboards and rules name only exported metrics and help the reader; and each of
// these checks finds a mistake made for it.
#include "dashboards/lint.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "dashboards/queries.hpp"

namespace lockmark::dashboards {
namespace {

using json = nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* files[] = {"live.json", "comparison.json", "safety.json"};

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

json dashboard(std::string_view file) {
  return json::parse(text_of(std::filesystem::path("dashboards") / file));
}

std::vector<rule> rules() {
  std::vector<rule> all = rules_of("deploy/prometheus/rules.yml");
  for (rule& r : rules_of("deploy/prometheus/alerts.yml")) all.push_back(std::move(r));
  return all;
}

known_names known() {
  known_names k{parse_metric_table(text_of("dashboards/METRICS.md")), {}};
  for (const rule& r : rules()) {
    if (!r.is_alert) k.recorded.insert(r.name);
  }
  return k;
}

complaints about_query(std::string_view expr) {
  return complaints_about_query("q", expr, known());
}

// A dashboard with one change.
complaints about_live(const json::json_pointer& at, const json& value) {
  json changed = dashboard("live.json");
  changed[at] = value;
  return complaints_about_dashboard("live.json", changed, known());
}

TEST(metric_table, is_read_from_the_contract) {
  const metric_table all = known().metrics;
  EXPECT_GT(all.size(), 30u);
  const metric* acquire = find_metric(all, "lockmark_acquire_duration_seconds_bucket");
  ASSERT_NE(acquire, nullptr);
  EXPECT_TRUE(acquire->is_histogram);
  EXPECT_THAT(acquire->labels, Contains(Pair("phase", ElementsAre("response", "service"))));
  EXPECT_THAT(acquire->labels,
              Contains(Pair("outcome", UnorderedElementsAre("granted", "refused", "in_doubt"))));
  EXPECT_THAT(acquire->labels, Contains(Pair("le", IsEmpty())));
  const metric* info = find_metric(all, "lockmark_run_info");
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->labels.count("target"), 1u);
  EXPECT_EQ(find_metric(all, "lockmark_build_info")->labels.count("lock"), 0u);
  EXPECT_EQ(find_metric(all, "lockmark_grants_total_bucket"), nullptr);
}

TEST(dashboards, name_only_what_runs_export) {
  const known_names k = known();
  std::vector<json> all;
  for (const char* file : files) {
    all.push_back(dashboard(file));
    EXPECT_THAT(complaints_about_dashboard(file, all.back(), k), IsEmpty());
    EXPECT_GT(queries_of(file, all.back()).size(), 20u) << "a check that looks at nothing";
  }
  EXPECT_THAT(complaints_about_uids(all), IsEmpty());
}

TEST(rules, name_only_what_runs_export) {
  const known_names k = known();
  int alerts = 0;
  for (const rule& r : rules()) {
    EXPECT_THAT(complaints_about_query(r.name, r.expr, k), IsEmpty());
    alerts += r.is_alert ? 1 : 0;
  }
  EXPECT_GT(alerts, 5);
  EXPECT_GT(k.recorded.size(), 5u);
}

// Every metric of the contract is shown somewhere; otherwise exporting it would be pointless.
TEST(dashboards, show_every_metric) {
  std::string queries;
  for (const char* file : files) {
    for (const query& q : queries_of(file, dashboard(file))) queries += q.expr;
  }
  for (const auto& [name, m] : known().metrics) EXPECT_THAT(queries, HasSubstr(name));
}

TEST(lint, finds_names_that_do_not_exist) {
  EXPECT_THAT(about_query("sum(lockmark_grant_total)"),
              ElementsAre("q: lockmark_grant_total is not in METRICS.md, nor recorded by a rule"));
  EXPECT_THAT(about_query(R"(lockmark_grants_total{key="1"})"),
              ElementsAre("q: lockmark_grants_total has no label key"));
  EXPECT_THAT(about_query(R"(lockmark_attempts_total{lock="a", outcome="refused"})"),
              ElementsAre(R"(q: lockmark_attempts_total never has outcome="refused")"));
  EXPECT_THAT(about_query(R"(lockmark_attempts_total{outcome=~"granted|lost"})"),
              ElementsAre(R"(q: lockmark_attempts_total never has outcome="lost")"));
  EXPECT_THAT(about_query("sum by (client) (rate(lockmark_grants_total[1m]))"),
              ElementsAre("q: no metric here has a label client"));
  EXPECT_THAT(about_query("run:lockmark_grants:rate9s > 0"),
              ElementsAre("q: run:lockmark_grants:rate9s is not in METRICS.md, nor recorded by a "
                          "rule"));
  EXPECT_THAT(about_query("lockmark_grants_total_sum"), testing::SizeIs(1));
  // A correct query, with everything that could be mistaken for a name.
  EXPECT_THAT(
      about_query(R"(sum by (le, lock) (lockmark_hold_duration_seconds_bucket{lock=~"$l"}))"),
      IsEmpty());
  EXPECT_THAT(about_query(R"x(label_replace(up, "a", "$1", "job", "lockmark_(.*)"))x"), IsEmpty());
}

TEST(lint, finds_what_is_missing_from_a_dashboard) {
  using at = json::json_pointer;
  EXPECT_THAT(about_live(at("/uid"), "abc"), Contains(HasSubstr("its uid is not lockmark-live")));
  EXPECT_THAT(about_live(at("/id"), 7), Contains(HasSubstr("its id is not null")));
  EXPECT_THAT(about_live(at("/refresh"), ""), Contains(HasSubstr("does not refresh")));
  EXPECT_THAT(about_live(at("/panels/0/title"), ""), Contains(HasSubstr("has no title")));
  EXPECT_THAT(about_live(at("/panels/0/description"), ""), Contains(HasSubstr("no description")));
  EXPECT_THAT(about_live(at("/panels/0/fieldConfig/defaults/unit"), ""),
              Contains(HasSubstr("panel 'Verdict': has no unit")));
  EXPECT_THAT(about_live(at("/panels/1/id"), 1), Contains(HasSubstr("shares an id")));
  EXPECT_THAT(about_live(at("/panels/1/gridPos/x"), 0), Contains(HasSubstr("lies on another")));
  EXPECT_THAT(about_live(at("/panels/1/gridPos/x"), 23), Contains(HasSubstr("within the grid")));
  EXPECT_THAT(about_live(at("/panels/0/targets/0/legendFormat"), ""),
              Contains(HasSubstr("has no legend")));
  EXPECT_THAT(about_live(at("/panels/0/datasource/uid"), "P1809F7CD0C75ACF3"),
              Contains(HasSubstr("its data source is not the variable")));
  EXPECT_THAT(about_live(at("/annotations/list/0/datasource/uid"), "-- Grafana --"),
              Contains(HasSubstr("its data source is not the variable")));
  EXPECT_THAT(about_live(at("/panels/0/targets/0/expr"), "rate(lockmark_grants_total[1m])"),
              Contains(HasSubstr("not over $__rate_interval")));
  EXPECT_THAT(about_live(at("/panels/0/targets/0/expr"),
                         "histogram_quantile(1, sum(lockmark_loop_lag_seconds_bucket))"),
              Contains(HasSubstr("without le")));
  EXPECT_THAT(about_live(at("/templating/list/1/query/query"), "label_values(lockmark_runs, lock)"),
              Contains(HasSubstr("lockmark_runs is not in METRICS.md")));
  EXPECT_THAT(complaints_about_uids({dashboard("live.json"), dashboard("live.json")}),
              ElementsAre("2 dashboards have the uid lockmark-live"));
}

TEST(queries, are_found_with_their_variables_replaced) {
  const auto all = queries_of("live.json", dashboard("live.json"));
  std::vector<std::string> places;
  for (const query& q : all) places.push_back(q.where);
  EXPECT_THAT(places, IsSupersetOf({"live.json: panel 'Verdict' A", "live.json: variable 'lock'",
                                    "live.json: annotation 'faults'"}));
  EXPECT_EQ(with_variables("a[$__range:$x] ${x}", {{"__range", "5m"}, {"x", "1s"}}), "a[5m:1s] 1s");
  EXPECT_THROW(with_variables("$unknown", {{"x", "1"}}), std::runtime_error);
  EXPECT_THAT(labels_in_legend("{{lock}} on {{topology}}"), ElementsAre("lock", "topology"));
}

}  // namespace
}  // namespace lockmark::dashboards
