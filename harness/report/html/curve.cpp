#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "harness/report/html/charts.hpp"
#include "harness/report/text.hpp"
#include "harness/stats/confidence.hpp"

namespace lockmark::report::html {
namespace {

constexpr int points_per_nine = 8;

std::vector<curve_point> points_of(const stats::attempts& all) {
  std::vector<curve_point> points;
  const std::int64_t n = all.count();
  if (n == 0) return points;
  for (int k = 0;; ++k) {
    const double x = std::pow(10.0, static_cast<double>(k) / points_per_nine);
    const double q = 1 - 1 / x;
    if (q > 0.5 && !stats::is_supported(q, n)) break;
    const stats::quantile_ns value = all.at_quantile(q);
    if (value.censored) break;
    points.push_back({x, value.value_ns});
  }
  return points;
}

// The harness with a memory lock in place of a server; two quantiles are known.
curve floor_curve(const subject& s) {
  curve c{"harness floor (no server)", {}, {}};
  const json& floor = s.at({"harness", "floor"});
  for (const auto& [q, key] :
       {std::pair(0.5, "response_p50_ns"), std::pair(0.99, "response_p99_ns")}) {
    const json& value = look(floor, {key});
    if (!value.is_number_integer()) continue;
    c.points.push_back({1 / (1 - q), value.get<std::int64_t>()});
    c.shown[q] = shown_time(value);
  }
  return c;
}

json points_json(const std::vector<curve_point>& points) {
  json all = json::array();
  for (const curve_point& p : points) {
    all.push_back(json::array({rounded(p.x), rounded(static_cast<double>(p.ns))}));
  }
  return all;
}

}  // namespace

curve curve_of(std::string name, const stats::attempts& all, bool bound) {
  curve c{std::move(name), points_of(all), {}};
  for (const double q : tabled) {
    if (!stats::is_supported(q, all.count())) continue;
    const stats::quantile_ns value = all.at_quantile(q);
    c.shown[q] = time_text(time_value{value.value_ns, value.censored}, bound);
  }
  return c;
}

curve curve_of_summary(std::string name, const json& quantiles, bool bound) {
  curve c{std::move(name), {}, {}};
  if (!quantiles.is_array()) return c;
  for (const json& entry : quantiles) {
    const double q = real_of(look(entry, {"q"}));
    const json& value = look(entry, {"value_ns"});
    if (!(q > 0 && q < 1) || value.is_null()) continue;
    c.shown[q] = shown_time(value, bound);
    if (value.is_number_integer()) c.points.push_back({1 / (1 - q), value.get<std::int64_t>()});
  }
  return c;
}

json curve_chart(std::string id, const std::vector<curve>& curves, chart_sheet& sheet) {
  json names = json::array(), series = json::array(), rows = json::array();
  for (const curve& c : curves) {
    if (c.points.empty()) continue;
    names.push_back(c.name);
    series.push_back({{"name", c.name}, {"points", points_json(c.points)}});
  }
  for (const double q : tabled) {
    std::vector<std::string> cells;
    bool known = false;
    for (const curve& c : curves) {
      if (c.points.empty()) continue;
      const auto found = c.shown.find(q);
      known = known || found != c.shown.end();
      cells.push_back(found == c.shown.end() ? "-" : found->second);
    }
    if (known) rows.push_back(numbers_row(name_of_quantile(q), std::move(cells)));
  }
  return sheet.place({{"id", std::move(id)}, {"curves", names}, {"rows", rows}},
                     {{"kind", "percentiles"}, {"series", series}});
}

json percentile_chart(const subject& s, chart_sheet& sheet) {
  return curve_chart(s.id + "-percentiles", {s.response, s.service, floor_curve(s), s.timer_lag},
                     sheet);
}

}  // namespace lockmark::report::html
