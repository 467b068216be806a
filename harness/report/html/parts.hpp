// The parts of the page, in its order: each file of this folder that makes one, and what it offers.
// All return markup, empty where there is nothing to show; data of charts go to the sheet.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/report/html/chart.hpp"
#include "harness/report/html/curve.hpp"
#include "harness/report/html/subject.hpp"

namespace lockmark::report::html {

// --- verdict.cpp ---

// The banner of one run: verdict in words, the kind of its figures, every reason.
std::string verdict_banner(const subject& s);

// The banner over several runs: how many held, and the names of those that did not.
std::string overview_banner(const std::vector<subject>& subjects);

// "held", "NOT HELD" or "unknown".
std::string held_word(const subject& s);
// "valid", "bound", "INVALID" or "incomplete".
std::string figures_word(const subject& s);
// The state of its bar in a chart, see `bar`.
std::string state_of(const subject& s);

// --- summary.cpp ---

// Success, rate, latency, hand-off and the rest, one tile each.
std::string key_figures(const subject& s);
// Quantiles of response and service with their 95 % intervals.
std::string quantile_table(const subject& s);
// One row per run, in the order given, with a link to the run's own part of the page.
std::string comparison_table(const std::vector<subject>& subjects);

// --- percentiles.cpp ---

// Response, service, the harness's floor and its timer lag.
std::string percentile_chart(const subject& s, chart_sheet& sheet);

// The chart of any curves; all their numbers in one table, one column per curve.
chart chart_of(std::string id, std::string title, std::string note,
               const std::vector<curve>& curves);

// "p99.9" for 0.999.
std::string name_of_quantile(double q);

// --- bar_charts.cpp ---

std::string outcome_chart(const subject& s, chart_sheet& sheet);
// Grants of each client, most first; many clients are shown in groups. Nothing if the run does not
// have them: older minors, more than 1,000 clients.
std::string share_chart(const subject& s, chart_sheet& sheet);
std::string cost_chart(const subject& s, chart_sheet& sheet);

// A horizontal bar: the lines of its label, its value, and how to read it: "" as it is, "bound",
// "invalid", "broken".
struct bar {
  std::vector<std::string> label;
  double value = 0;
  std::string state;
};
// Data for a list of bars, on an axis with this caption.
json bars_json(const std::vector<bar>& bars, const std::string& axis, bool logarithmic = false);

// --- course_charts.cpp ---

std::string heat_chart(const subject& s, chart_sheet& sheet);
std::string rate_chart(const subject& s, chart_sheet& sheet);
// Faults and other events during the run, as a table; empty if there were none.
std::string marks_table(const subject& s);

// --- safety.cpp ---

std::string safety_part(const subject& s);

// --- run_part.cpp ---

// Verdict, figures, charts, provenance. The charts' data goes to the sheet.
std::string run_part(const subject& s, chart_sheet& sheet);
// Verdict, figures, safety; for pages with too many runs to show each in full.
std::string brief_run_part(const subject& s);

// --- shared_part.cpp ---

// Throughput, latency by percentile, fairness and cost, of all runs.
std::string shared_charts(const std::vector<subject>& subjects, chart_sheet& sheet);

// Why rows of the comparison table are bounds, INVALID or incomplete.
std::string remarks_of(const std::vector<subject>& subjects);

}  // namespace lockmark::report::html
