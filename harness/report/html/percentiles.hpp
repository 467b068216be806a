// The percentile plots: latency by the share of attempts that were at least so fast.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/report/html/chart.hpp"
#include "harness/report/html/subject.hpp"

namespace lockmark::report::html {

// A line of the plot, and what the table says of it.
struct curve {
  std::string name;
  std::vector<curve_point> points;
  std::map<double, std::string> shown;  // by quantile, "-" and "> T" among them
};

// Response or service of all attempts: from latency.hlog, else the few quantiles of run.json.
curve response_curve(const subject& s);
curve service_curve(const subject& s);

// Response, service, the harness's floor and its timer lag.
std::string percentile_chart(const subject& s, chart_sheet& sheet);

// The chart of any curves; all their numbers in one table, a column for each.
chart chart_of(std::string id, std::string title, std::string note,
               const std::vector<curve>& curves);

// "p99.9" for 0.999.
std::string name_of_quantile(double q);

}  // namespace lockmark::report::html
