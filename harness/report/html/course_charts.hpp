// The charts of a run over time: a heatmap of its latency, and its rates; faults are drawn in both.
#pragma once

#include <string>

#include "harness/report/html/chart.hpp"
#include "harness/report/html/subject.hpp"

namespace lockmark::report::html {

std::string heat_chart(const subject& s, chart_sheet& sheet);
std::string rate_chart(const subject& s, chart_sheet& sheet);
// Faults and other events during the run, as a table; empty if there were none.
std::string marks_table(const subject& s);

}  // namespace lockmark::report::html
