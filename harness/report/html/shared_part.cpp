#include <fmt/format.h>

#include <algorithm>

#include "harness/report/html/markup.hpp"
#include "harness/report/html/parts.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report::html {
namespace {

using group = std::vector<const subject*>;

// One group per scenario, in the order in which the scenarios appear.
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

std::string bar_chart(const group& runs, std::size_t number, const figure& f, chart_sheet& sheet) {
  const std::string axis(f.chart.axis);
  table numbers({{"run"}, {axis, column::number}, {"held"}, {"figures"}});
  std::vector<bar> bars;
  for (const subject* s : runs) {
    const reading& r = s->in_table[f.name];
    if (!r.value) continue;
    bars.push_back({label_of(*s), *r.value, state_of(*s)});
    numbers.add({s->label, cell_text(f, r), held_word(*s), figures_word(*s)});
  }
  json data = bars_json(bars, axis);
  if (f.chart.most > 0) data["most"] = f.chart.most;
  return sheet.place({fmt::format("s{}-{}", number, f.name), std::string(f.chart.title),
                      std::string(f.chart.note), std::move(data), std::move(numbers)});
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

// Throughput first, then times, then the rest.
std::string charts_of(const group& runs, std::size_t number, chart_sheet& sheet) {
  std::string text;
  for (const figure& f : figures()) {
    if (f.chart.title.empty()) continue;
    text += bar_chart(runs, number, f, sheet);
    if (f.name == "tps") text += percentiles(runs, number, sheet);
  }
  return text;
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
           fmt::format("{}", fmt::join(texts_of(s.in_table.reasons), "; "))});
  }
  return t.rows() == 0 ? "" : folded("Remarks on the runs", t.html());
}

}  // namespace lockmark::report::html
