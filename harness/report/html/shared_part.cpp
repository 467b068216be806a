#include "harness/report/html/shared_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "harness/report/html/bar_charts.hpp"
#include "harness/report/html/markup.hpp"
#include "harness/report/html/percentiles.hpp"
#include "harness/report/html/verdict.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report::html {
namespace {

using group = std::vector<const subject*>;

// Of one scenario each, in the order in which the scenarios appear.
std::vector<group> by_scenario(const std::vector<subject>& subjects) {
  std::vector<group> groups;
  for (const subject& s : subjects) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const group& g) {
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

// What stands beside a bar: the label in lines, and how the bar is to be read.
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

struct figure {
  const char* id;
  const char* title;
  const char* note;
  const char* axis;
  int decimals;
  int most;  // where the axis ends; 0: as far as the bars need
  std::optional<double> (*of)(const row&);
};

std::string bar_chart(const group& runs, std::size_t number, const figure& f, chart_sheet& sheet) {
  table numbers({{"run"}, {f.axis, column::number}, {"held"}, {"figures"}});
  std::vector<bar> bars;
  for (const subject* s : runs) {
    const auto value = f.of(s->in_table);
    if (!value) continue;
    bars.push_back({label_of(*s), *value, state_of(*s)});
    numbers.add({s->label,
                 f.decimals > 0 ? fmt::format("{:.{}f}", *value, f.decimals) : rate_text(*value),
                 held_word(*s), figures_word(*s)});
  }
  json data = bars_json(bars, f.axis);
  if (f.most > 0) data["most"] = f.most;
  return sheet.place(
      {fmt::format("s{}-{}", number, f.id), f.title, f.note, std::move(data), std::move(numbers)});
}

std::string percentiles(const group& runs, std::size_t number, chart_sheet& sheet) {
  std::vector<curve> curves;
  for (const subject* s : runs) {
    curve c = s->response;
    c.name = s->label;
    const std::string state = state_of(*s);
    if (state == "broken") c.name += " (NOT HELD)";
    if (state == "invalid") c.name += fmt::format(" ({})", figures_word(*s));
    curves.push_back(std::move(c));
  }
  return sheet.place(chart_of(
      fmt::format("s{}-percentiles", number), "Response by percentile",
      "All attempts, from when they were due to their grant; a line for each run. To the right, "
      "each step is ten times as rare. A line ends where the samples or the grants do.",
      curves));
}

std::string charts_of(const group& runs, std::size_t number, chart_sheet& sheet) {
  constexpr figure tps{"tps",
                       "Throughput",
                       "Grants per second. Pale: a bound, the lock can do at least that. Striped: "
                       "INVALID or incomplete, not to be compared.",
                       "grants per second",
                       0,
                       0,
                       [](const row& r) { return r.tps; }};
  constexpr figure fairness{"fairness",
                            "Fairness",
                            "Jain's index of grants per client in short windows: 1 is even, "
                            "1/clients is one client only.",
                            "Jain's index",
                            2,
                            1,
                            [](const row& r) { return r.fairness; }};
  constexpr figure cost{"commands",
                        "Cost per acquire",
                        "Commands that the clients sent.",
                        "commands per grant",
                        2,
                        0,
                        [](const row& r) { return r.commands_per_acquire; }};
  return bar_chart(runs, number, tps, sheet) + percentiles(runs, number, sheet) +
         bar_chart(runs, number, fairness, sheet) + bar_chart(runs, number, cost, sheet);
}

}  // namespace

std::string shared_charts(const std::vector<subject>& subjects, chart_sheet& sheet) {
  std::string text;
  const std::vector<group> groups = by_scenario(subjects);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::string& scenario = groups[g].front()->in_table.scenario;
    text += section(scenario.empty() ? "Charts" : fmt::format("Charts: {}", scenario),
                    charts_of(groups[g], g, sheet));
  }
  return text;
}

std::string remarks_of(const std::vector<subject>& subjects) {
  table t({{"run"}, {"scenario"}, {"figures"}, {"why"}});
  for (const subject& s : subjects) {
    if (s.in_table.reasons.empty()) continue;
    t.add({s.label, s.in_table.scenario, figures_word(s),
           fmt::format("{}", fmt::join(s.in_table.reasons, "; "))});
  }
  return t.rows() == 0 ? "" : folded("Remarks on the runs", t.html());
}

}  // namespace lockmark::report::html
