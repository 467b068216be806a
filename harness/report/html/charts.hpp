// The charts that the page's scripts (charts.js, heatmap.js) draw, each with the same numbers as a
// table for readers who have no scripts, or want the numbers. Words about them stand in the
// templates.
#pragma once

#include <string>
#include <vector>

#include "harness/report/html/course.hpp"
#include "harness/report/html/look.hpp"
#include "harness/report/html/subject.hpp"

namespace lockmark::report::html {

// Collects the data of all charts of a page.
class chart_sheet {
 public:
  // `shown`: what the template shows of the chart: its "id", unique in the page and fit for an
  // attribute; the "rows" of its table; and more. `drawn`: "kind" names the function that draws it,
  // report.draw[kind] of the scripts. Returns what the template gets: nothing (null) without rows.
  json place(json shown, json drawn);
  // The data of all placed charts, by id, as JSON that is safe inside <script>.
  std::string data() const;

 private:
  json charts_ = json::object();
};

// JSON that can neither end its <script> element nor begin a comment there.
std::string safe_json(const json& value);

// A row of a table (the template row): its name, then numbers as text.
json numbers_row(std::string name, std::vector<std::string> cells);

// The charts of one run. Response, service, the harness's floor and its timer lag:
json percentile_chart(const subject& s, chart_sheet& sheet);
// Over time, with faults: a heatmap of latency, and rates.
json heat_chart(const subject& s, chart_sheet& sheet);
json rate_chart(const subject& s, chart_sheet& sheet);
// Faults and other events during the run: no more than a chart has room for.
json marks_of(const subject& s);
json outcome_chart(const subject& s, chart_sheet& sheet);
// Grants of each client, most first; many clients are shown in groups. Nothing if the run does not
// have them: older minors, more than 1,000 clients.
json share_chart(const subject& s, chart_sheet& sheet);
json cost_chart(const subject& s, chart_sheet& sheet);

// Any curves; all their numbers in one table, one column per curve.
json curve_chart(std::string id, const std::vector<curve>& curves, chart_sheet& sheet);

// A horizontal bar: the lines of its label, its value, and how to read it: "" as it is, "bound",
// "invalid", "broken".
struct bar {
  std::vector<std::string> label;
  double value = 0;
  std::string state;
};
// Data for a list of bars, on an axis with this caption.
json bars_json(const std::vector<bar>& bars, const std::string& axis, bool logarithmic = false);

}  // namespace lockmark::report::html
