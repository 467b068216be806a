#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "harness/report/html/charts.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report::html {
namespace {

// More marks would hide the chart.
constexpr std::size_t most_marks = 400;

json marks_json(const subject& s) {
  json all = json::array();
  for (const json& m : marks_of(s)) {
    all.push_back({{"at", real_of(look(m, {"at_s"}))},
                   {"for", real_of(look(m, {"for_s"}))},
                   {"kind", shown(look(m, {"kind"}))}});
  }
  return all;
}

// The scripts use times in seconds, to the millisecond.
json edges_json(const subject& s) {
  json all = json::array();
  for (const double at_s : s.edges_s) all.push_back(std::round(at_s * 1e3) / 1e3);
  return all;
}

// With non-breaking spaces: in a narrow table it would take three lines.
std::string span_text(const subject& s, std::size_t i) {
  return fmt::format("{:.1f}\u00a0to\u00a0{:.1f}\u00a0s", s.edges_s[i], s.edges_s[i + 1]);
}

// The first non-empty band, and the counts from there on; most columns have few bands.
json heat_column(const moment& m) {
  json column = json::array();
  const auto some = [](std::uint32_t n) { return n > 0; };
  const auto first = std::find_if(m.by_band.begin(), m.by_band.end(), some);
  if (first == m.by_band.end()) return column;
  const auto last = std::find_if(m.by_band.rbegin(), m.by_band.rend(), some).base();
  column.push_back(first - m.by_band.begin());
  for (auto n = first; n != last; ++n) column.push_back(*n);
  return column;
}

double rate(std::uint64_t n, const stretch& s) {
  return s.length_s > 0 ? static_cast<double>(n) / s.length_s : 0;
}

template <class Count>
json rates(const subject& s, const std::string& name, Count count) {
  json values = json::array();
  for (const stretch& t : s.stretches) values.push_back(rounded(rate(count(t), t)));
  return {{"name", name}, {"values", std::move(values)}};
}

json rate_series(const subject& s, const json& offered) {
  json all = json::array();
  if (offered.is_number()) {
    json values = json::array();
    for (std::size_t i = 0; i < s.stretches.size(); ++i) values.push_back(offered);
    all.push_back({{"name", "offered"}, {"values", std::move(values)}});
  }
  const auto some = [&](auto count) {
    return std::any_of(s.stretches.begin(), s.stretches.end(),
                       [&](const stretch& t) { return count(t) > 0; });
  };
  const bool all_granted = !some([](const stretch& t) { return t.not_granted(); });
  const auto achieved = [](const stretch& t) { return t.attempts; };
  const auto dropped = [](const stretch& t) { return t.dropped; };
  all.push_back(rates(s, all_granted ? "achieved, all granted" : "achieved", achieved));
  if (!all_granted) {
    all.push_back(rates(s, "granted", [](const stretch& t) { return t.granted(); }));
  }
  if (offered.is_number() || some(dropped)) all.push_back(rates(s, "dropped", dropped));
  return all;
}

}  // namespace

json heat_chart(const subject& s, chart_sheet& sheet) {
  const bool counted = s.stretches.size() == s.moments.size();
  json columns = json::array(), failed = json::array(), rows = json::array();
  bool some = false;
  for (std::size_t i = 0; i < s.moments.size(); ++i) {
    const moment& m = s.moments[i];
    some = some || m.granted > 0;
    columns.push_back(heat_column(m));
    const std::uint64_t without = counted ? s.stretches[i].not_granted() : 0;
    failed.push_back(without);
    std::vector<std::string> cells{std::to_string(m.granted)};
    for (const std::int64_t ns : {m.p50_ns, m.p90_ns, m.p99_ns, m.max_ns}) {
      cells.push_back(m.granted > 0 ? time_text(time_value{ns, false}, s.in_table.bound) : "-");
    }
    cells.push_back(counted ? std::to_string(without) : "-");
    rows.push_back(numbers_row(span_text(s, i), std::move(cells)));
  }
  if (!some) return {};
  return sheet.place({{"id", s.id + "-heat"}, {"rows", rows}},
                     {{"kind", "heat"},
                      {"edges", edges_json(s)},
                      {"columns", columns},
                      {"bands_per_decade", bands_per_decade},
                      {"not_granted", failed},
                      {"marks", marks_json(s)}});
}

json rate_chart(const subject& s, chart_sheet& sheet) {
  const json& offered = s.at({"harness", "offered_per_s"});
  const json series = rate_series(s, offered);
  json rows = json::array();
  for (std::size_t i = 0; i < s.stretches.size(); ++i) {
    std::vector<std::string> cells;
    for (const json& one : series) cells.push_back(rate_text(real_of(one.at("values")[i])));
    rows.push_back(numbers_row(span_text(s, i), std::move(cells)));
  }
  return sheet.place({{"id", s.id + "-rates"},
                      {"offered", offered.is_number()},
                      {"series", series},
                      {"rows", rows}},
                     {{"kind", "rates"},
                      {"edges", edges_json(s)},
                      {"series", series},
                      {"axis", "attempts per second"},
                      {"marks", marks_json(s)}});
}

json marks_of(const subject& s) {
  json marks = s.at({"marks"});  // added after the first version of the schema
  if (!marks.is_array()) return json::array();
  if (marks.size() > most_marks) marks.erase(marks.begin() + most_marks, marks.end());
  return marks;
}

}  // namespace lockmark::report::html
