// The charts that count: how attempts ended, who got the lock, what a grant cost.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/report/html/chart.hpp"
#include "harness/report/html/subject.hpp"

namespace lockmark::report::html {

std::string outcome_chart(const subject& s, chart_sheet& sheet);
// Grants of each client, the luckiest first; many clients are shown in groups. Nothing where the
// run does not say it: older minors, more than 1,000 clients.
std::string share_chart(const subject& s, chart_sheet& sheet);
std::string cost_chart(const subject& s, chart_sheet& sheet);

// A bar lying on its side. Lines of its label; its value; how it is to be read: "" as it is,
// "bound", "invalid", "broken".
struct bar {
  std::vector<std::string> label;
  double value = 0;
  std::string state;
};
// Data for bars under each other, on an axis with this caption.
json bars_json(const std::vector<bar>& bars, const std::string& axis, bool logarithmic = false);

}  // namespace lockmark::report::html
