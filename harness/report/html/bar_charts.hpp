// Charts of counts: outcomes of attempts, grants by client, cost of a grant.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/report/html/chart.hpp"
#include "harness/report/html/subject.hpp"

namespace lockmark::report::html {

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

}  // namespace lockmark::report::html
