// A run of lockmark on a real local server, watched by a real Prometheus, and its results.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dashboards/prometheus.hpp"
#include "program/test_program.hpp"

namespace lockmark::dashboards {

enum class way { scraped, pushed };

class watched_run {
 public:
  // Runs `lockmark ARGUMENTS`, watched in this way, in its own folder; returns once it has ended
  // and its last figures have been seen. Another exit status than the expected one fails the test.
  watched_run(way how, std::vector<std::string> arguments, int expected_status = 0);

  const prometheus& seen_by() const { return *prometheus_; }
  // From the first to the last moment at which it was seen.
  const stretch& when() const { return when_; }
  // Possible values of a dashboard's variables.
  std::map<std::string, std::string> variables() const;
  // run.json of the one run, or of each run of a table.
  nlohmann::json told() const;
  std::vector<nlohmann::json> told_by_each() const;

  // The last value of the one matching series, "lockmark_grants_total" or with labels.
  double last(const std::string& selector) const;

 private:
  cli::scratch dir_;
  std::unique_ptr<pushgateway> gateway_;
  std::unique_ptr<prometheus> prometheus_;
  stretch when_;
};

}  // namespace lockmark::dashboards
