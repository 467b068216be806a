// The table of METRICS.md as values: the metrics, their labels and the labels' values. Knows no
// Prometheus.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace lockmark::dashboards {

struct metric {
  bool is_histogram = false;
  // Every label that its series can have, including those of the run and of the scrape. No values:
  // any value is possible.
  std::map<std::string, std::set<std::string>, std::less<>> labels;
};

using metric_table = std::map<std::string, metric, std::less<>>;

// From the text of METRICS.md. A histogram is listed under its own name, without _bucket.
metric_table parse_metric_table(std::string_view markdown);

// The metric of a name in a query, also by _bucket, _sum or _count; null if there is none.
const metric* find_metric(const metric_table& all, std::string_view name);

}  // namespace lockmark::dashboards
