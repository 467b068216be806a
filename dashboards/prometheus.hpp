// A real Prometheus and a real Pushgateway as child processes of a test, and requests to them over
// HTTP. Both listen on loopback and end with their objects.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "deploy/local/ports.hpp"
#include "program/test_program.hpp"

namespace lockmark::dashboards {

// A stretch of time, in seconds since 1970.
struct stretch {
  double begin_s = 0;
  double end_s = 0;
};
double seconds_now();

// One series of a reply: its labels, and its values in time order.
struct series {
  std::map<std::string, std::string> labels;
  std::vector<double> values;
};

class pushgateway {
 public:
  // Returns once it replies. Throws std::runtime_error if it does not.
  explicit pushgateway(const std::filesystem::path& where);
  int port() const { return port_; }

 private:
  local::port_source ports_{std::nullopt};
  int port_;
  cli::program process_;
};

class prometheus {
 public:
  // Uses the configuration and the rules of deploy/prometheus unchanged, for these ports of
  // 127.0.0.1. Writes files to `where`. Returns once it replies; throws std::runtime_error if it
  // does not.
  prometheus(const std::filesystem::path& where, const std::vector<int>& metrics_ports,
             const std::vector<int>& gateway_ports);

  // A query at every second of the stretch. If Prometheus refuses it, the test fails and the result
  // has no series.
  std::vector<series> ask(std::string_view expr, const stretch& when) const;
  // The one value of a query at a moment; NaN and a test failure unless there is exactly one.
  double value(std::string_view expr, double at_s) const;
  // The values of a label among the matching series.
  std::vector<std::string> label_values(std::string_view selector, std::string_view label,
                                        const stretch& when) const;
  // The content of /api/v1/rules.
  nlohmann::json rules() const;

 private:
  nlohmann::json get(const std::string& path) const;

  local::port_source ports_{std::nullopt};
  int port_;
  cli::program process_;
};

}  // namespace lockmark::dashboards
