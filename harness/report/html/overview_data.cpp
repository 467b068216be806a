#include <fmt/core.h>

#include <algorithm>

#include "harness/report/html/page_data.hpp"

namespace lockmark::report::html {
namespace {

using group = std::vector<const subject*>;

// One group per scenario, in the order in which the scenarios appear.
std::vector<group> by_scenario(const std::vector<subject>& subjects) {
  std::vector<group> groups;
  for (const subject& s : subjects) {
    const auto same = std::ranges::find_if(groups, [&](const group& g) {
      return g.front()->in_table.scenario == s.in_table.scenario;
    });
    if (same == groups.end()) {
      groups.push_back({&s});
    } else {
      same->push_back(&s);
    }
  }
  return groups;
}

// The text beside a bar: the lines of the label, and how to read the bar.
std::vector<std::string> label_of(const subject& s) {
  const std::string& label = s.label;
  const auto on = label.find(" on ");
  std::vector<std::string> lines{label.substr(0, on)};
  std::string second = on == std::string::npos ? "" : label.substr(on + 1);
  const std::string state = state_of(s);
  if (state == "broken") second += second.empty() ? "NOT HELD" : ", NOT HELD";
  if (state == "invalid") {
    second += fmt::format("{}{}", second.empty() ? "" : ", ", figures_word(s));
  }
  if (!second.empty()) lines.push_back(second);
  return lines;
}

json bar_chart(const group& runs, std::size_t number, const figure& f, chart_sheet& sheet) {
  const std::string axis(f.chart.axis);
  json rows = json::array();
  std::vector<bar> bars;
  for (const subject* s : runs) {
    const reading& r = s->in_table[f.name];
    if (!r.value) continue;
    bars.push_back({label_of(*s), *r.value, state_of(*s)});
    rows.push_back({{"label", s->label},
                    {"value", cell_text(f, r)},
                    {"held", held_word(*s)},
                    {"figures", figures_word(*s)}});
  }
  json drawn = bars_json(bars, axis);
  if (f.chart.most > 0) drawn["most"] = f.chart.most;
  return sheet.place({{"id", fmt::format("s{}-{}", number, f.name)},
                      {"title", f.chart.title},
                      {"note", f.chart.note},
                      {"axis", axis},
                      {"rows", rows}},
                     std::move(drawn));
}

json percentiles(const group& runs, std::size_t number, chart_sheet& sheet) {
  std::vector<curve> curves;
  for (const subject* s : runs) {
    curve c = s->response;
    c.name = s->label;
    const std::string state = state_of(*s);
    if (state == "broken") c.name += " (NOT HELD)";
    if (state == "invalid") c.name += fmt::format(" ({})", figures_word(*s));
    curves.push_back(std::move(c));
  }
  return curve_chart(fmt::format("s{}-percentiles", number), curves, sheet);
}

json counts_of(const std::vector<subject>& subjects) {
  json n{{"runs", subjects.size()},
         {"held", 0},
         {"broken", 0},
         {"unknown", 0},
         {"untested", 0},
         {"valid", 0},
         {"INVALID", 0},
         {"incomplete", 0},
         {"bound", 0}};
  for (const subject& s : subjects) {
    for (const std::string& word : {verdict_of(s), figures_word(s)}) {
      n[word] = count_of(n[word]) + 1;
    }
  }
  n["with_figures"] = count_of(n["valid"]) + count_of(n["bound"]);
  return n;
}

}  // namespace

json overview_data(const std::vector<subject>& subjects, chart_sheet& sheet) {
  const json n = counts_of(subjects);
  json data{{"counts", n},
            {"verdict", n["broken"] > 0         ? "broken"
                        : n["held"] < n["runs"] ? "unknown"
                                                : "held"},
            {"trust", n["with_figures"] < n["runs"] ? "bad"
                      : n["bound"] > 0              ? "doubtful"
                                                    : "good"},
            {"remarked", std::ranges::any_of(subjects, [](const subject& s) {
               return !s.in_table.reasons.empty();
             })}};
  for (const figure& f : figures()) {
    if (f.column.head.empty()) continue;
    data[f.of_verdict ? "verdict_heads" : "heads"].push_back(f.column.head);
  }
  const std::vector<group> groups = by_scenario(subjects);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    // Throughput first, then times, then the rest.
    json shown{{"scenario", groups[g].front()->in_table.scenario}, {"others", json::array()}};
    for (const figure& f : figures()) {
      if (f.chart.title.empty()) continue;
      json chart = bar_chart(groups[g], g, f, sheet);
      if (f.name == "tps") {
        shown["throughput"] = std::move(chart);
        shown["percentiles"] = percentiles(groups[g], g, sheet);
      } else if (!chart.is_null()) {
        shown["others"].push_back(std::move(chart));
      }
    }
    data["groups"].push_back(std::move(shown));
  }
  return data;
}

}  // namespace lockmark::report::html
