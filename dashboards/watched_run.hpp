// A run of lockmark on a real local server that a real Prometheus has watched, and what it left.
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
  // `lockmark ARGUMENTS`, watched in this way, in its own folder; returns when it has ended and its
  // last figures have been seen. An exit status other than the expected one is a failure.
  watched_run(way how, std::vector<std::string> arguments, int expected_status = 0);

  const prometheus& seen_by() const { return *prometheus_; }
  // From the first moment to the last at which it was seen.
  const stretch& when() const { return when_; }
  // Values that a dashboard's variables could have.
  std::map<std::string, std::string> variables() const;
  // run.json of the one run, or of each run of a table.
  nlohmann::json told() const;
  std::vector<nlohmann::json> told_by_each() const;

  // The last value of the one series that fits, "lockmark_grants_total" or with labels.
  double last(const std::string& selector) const;

 private:
  cli::scratch dir_;
  std::unique_ptr<pushgateway> gateway_;
  std::unique_ptr<prometheus> prometheus_;
  stretch when_;
};

}  // namespace lockmark::dashboards
