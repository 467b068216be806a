#include "harness/report/html/percentiles.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "harness/report/text.hpp"
#include "harness/stats/confidence.hpp"

namespace lockmark::report::html {
namespace {

constexpr std::array<double, 8> tabled{0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999};

curve from_log(std::string name, const stats::attempts& all, bool bound) {
  curve c{std::move(name), curve_of(all), {}};
  for (const double q : tabled) {
    if (!stats::is_supported(q, all.count())) continue;
    const stats::quantile_ns value = all.at_quantile(q);
    c.shown[q] = time_text(time_value{value.value_ns, value.censored}, bound);
  }
  return c;
}

curve from_summary(std::string name, const json& quantiles, bool bound) {
  curve c{std::move(name), {}, {}};
  if (!quantiles.is_array()) return c;
  for (const json& entry : quantiles) {
    const double q = real_of(look(entry, {"q"}));
    const json& value = look(entry, {"value_ns"});
    if (!(q > 0 && q < 1) || value.is_null()) continue;
    c.shown[q] = shown_time(value, bound);
    if (value.is_number()) c.points.push_back({1 / (1 - q), value.get<std::int64_t>()});
  }
  return c;
}

curve acquire_curve(const subject& s, const char* which, const stats::histogram& granted) {
  const bool bound = s.in_table.bound;
  if (granted.empty()) {
    return from_summary(which, s.at({"quantiles", which, "quantiles"}), bound);
  }
  const auto wait_ns = static_cast<std::int64_t>(count_of(s.at({"run", "wait_ns"})));
  return from_log(which, {granted, s.not_granted(), wait_ns}, bound);
}

// What the harness does with a memory lock in place of a server; two quantiles are known.
curve floor_curve(const subject& s) {
  curve c{"harness floor (no server)", {}, {}};
  const json& floor = s.at({"harness", "floor"});
  for (const auto& [q, key] :
       {std::pair(0.5, "response_p50_ns"), std::pair(0.99, "response_p99_ns")}) {
    const json& value = look(floor, {key});
    if (!value.is_number()) continue;
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

curve response_curve(const subject& s) {
  return acquire_curve(s, "response", s.measured.response);
}

curve service_curve(const subject& s) {
  return acquire_curve(s, "service", s.measured.service);
}

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
  std::vector<curve> curves{response_curve(s), service_curve(s), floor_curve(s)};
  if (!s.measured.timer_lag.empty()) {
    curves.push_back(from_log("harness timer lag", {s.measured.timer_lag, 0, 0}, false));
  }
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
