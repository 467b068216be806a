// The percentile plots, of one run and of several.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/report/html/chart.hpp"
#include "harness/report/html/curve.hpp"
#include "harness/report/html/subject.hpp"

namespace lockmark::report::html {

// Response, service, the harness's floor and its timer lag.
std::string percentile_chart(const subject& s, chart_sheet& sheet);

// The chart of any curves; all their numbers in one table, one column per curve.
chart chart_of(std::string id, std::string title, std::string note,
               const std::vector<curve>& curves);

// "p99.9" for 0.999.
std::string name_of_quantile(double q);

}  // namespace lockmark::report::html
