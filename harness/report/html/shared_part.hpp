// Several runs in the same charts, by scenario: runs of different scenarios are not comparable.
#pragma once

#include <string>
#include <vector>

#include "harness/report/html/chart.hpp"
#include "harness/report/html/subject.hpp"

namespace lockmark::report::html {

// Throughput, latency by percentile, fairness and cost, of all runs.
std::string shared_charts(const std::vector<subject>& subjects, chart_sheet& sheet);

// Why rows of the comparison table are bounds, INVALID or incomplete.
std::string remarks_of(const std::vector<subject>& subjects);

}  // namespace lockmark::report::html
