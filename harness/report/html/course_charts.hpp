// The charts of a run over time: a heatmap of its latency, its rates; and the faults drawn in both.
#pragma once

#include <string>

#include "harness/report/html/chart.hpp"
#include "harness/report/html/subject.hpp"

namespace lockmark::report::html {

std::string heat_chart(const subject& s, chart_sheet& sheet);
std::string rate_chart(const subject& s, chart_sheet& sheet);
// What was done to the run on purpose, or happened to it, as a table; nothing if nothing.
std::string marks_table(const subject& s);

}  // namespace lockmark::report::html
