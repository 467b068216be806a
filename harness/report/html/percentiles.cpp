#include <fmt/core.h>

#include <utility>

#include "harness/report/html/parts.hpp"

namespace lockmark::report::html {
namespace {

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

std::string name_of_quantile(double q) {
  return fmt::format("p{:.6g}", 100 * q);
}

chart chart_of(std::string id, std::string title, std::string note,
               const std::vector<curve>& curves) {
  std::vector<heading> headings{{"quantile", column::text}};
  json series = json::array();
  for (const curve& c : curves) {
    if (c.points.empty()) continue;
    headings.push_back({c.name, column::number});
    series.push_back({{"name", c.name}, {"points", points_json(c.points)}});
  }
  chart made{std::move(id), std::move(title), std::move(note), json::object(), table(headings)};
  made.data = {{"kind", "percentiles"}, {"series", series}};
  if (series.empty()) return made;
  for (const double q : tabled) {
    std::vector<std::string> cells{name_of_quantile(q)};
    bool known = false;
    for (const curve& c : curves) {
      if (c.points.empty()) continue;
      const auto found = c.shown.find(q);
      known = known || found != c.shown.end();
      cells.push_back(found == c.shown.end() ? "-" : found->second);
    }
    if (known) made.numbers.add(std::move(cells));
  }
  return made;
}

std::string percentile_chart(const subject& s, chart_sheet& sheet) {
  const std::vector<curve> curves{s.response, s.service, floor_curve(s), s.timer_lag};
  std::string note =
      "Acquire latency of all attempts. To the right, each step is ten times as rare: p99.9 is the "
      "slowest attempt in a thousand. Response counts from when the attempt was due, service from "
      "when it was sent. What lies near the harness's own lines is the harness, not the lock.";
  if (s.not_granted() > 0) {
    note += " Lines end where the attempts begin that were not granted.";
  }
  return sheet.place(
      chart_of(s.id + "-percentiles", "Latency by percentile", std::move(note), curves));
}

}  // namespace lockmark::report::html
