// The queries of dashboards and rules, as the texts that Grafana and Prometheus would evaluate.
// Sends none.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lockmark::dashboards {

struct query {
  std::string where;  // "live.json: panel 'Verdict' A"
  std::string expr;   // PromQL with Grafana's variables; of a variable: label_values(SERIES, LABEL)
  std::string legend;  // may name labels as {{label}}
};

// Those of the panels, the template variables and the annotations.
std::vector<query> queries_of(std::string_view file, const nlohmann::json& dashboard);

// Replaces `$name` and `${name}`, as Grafana does before it sends a query. Throws
// std::runtime_error for a name without a value.
std::string with_variables(std::string_view expr, const std::map<std::string, std::string>& values);

struct rule {
  std::string name;  // of the alert, or of the recorded series
  std::string expr;
  bool is_alert = false;
};

// Reads one of Prometheus's rule files.
std::vector<rule> rules_of(const std::filesystem::path& file);

// The labels named in a legend.
std::vector<std::string> labels_in_legend(std::string_view legend);

}  // namespace lockmark::dashboards
