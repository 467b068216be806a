// Errors in a dashboard or a rule that can be found without a Prometheus: names that no run
// exports, and panels without help for the reader. Checks one text at a time; deploy/schema checks
// the whole against Grafana's schema.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dashboards/metric_table.hpp"

namespace lockmark::dashboards {

// The names that queries may use.
struct known_names {
  metric_table metrics;
  std::set<std::string, std::less<>> recorded;  // by recording rules
};

// Each complaint is "WHERE: what".
using complaints = std::vector<std::string>;

// A metric that is not in the table, a label that its series do not have, or a value that the label
// does not take.
complaints complaints_about_query(std::string_view where, std::string_view expr,
                                  const known_names& known);

// Everything but its queries: ids, data sources, places, and what every panel needs: a title, a
// description, a unit, and a legend for each of several queries.
complaints complaints_about_dashboard(std::string_view file, const nlohmann::json& dashboard,
                                      const known_names& known);

// Uids used by more than one dashboard.
complaints complaints_about_uids(const std::vector<nlohmann::json>& dashboards);

}  // namespace lockmark::dashboards
