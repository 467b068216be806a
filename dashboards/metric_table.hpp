// The table of METRICS.md as values: which metrics there are, and which labels and values of labels
// they have. Knows no Prometheus.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace lockmark::dashboards {

struct metric {
  bool is_histogram = false;
  // Every label that its series can have, those of the run and of the scrape among them. No values:
  // any are possible.
  std::map<std::string, std::set<std::string>, std::less<>> labels;
};

using metric_table = std::map<std::string, metric, std::less<>>;

// From the text of METRICS.md. A histogram is there by its own name, without _bucket.
metric_table parse_metric_table(std::string_view markdown);

// The metric that a name in a query is of, also by _bucket, _sum or _count; null if there is none.
const metric* find_metric(const metric_table& all, std::string_view name);

}  // namespace lockmark::dashboards
