// A real Prometheus and a real Pushgateway as child processes of a test, and what one asks them
// over HTTP. Both listen on loopback and are gone with their objects.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "program/test_program.hpp"

namespace lockmark::dashboards {

// A stretch of time, in seconds since 1970.
struct stretch {
  double begin_s = 0;
  double end_s = 0;
};
double seconds_now();

// One series of an answer: its labels, and its values in the order of time.
struct series {
  std::map<std::string, std::string> labels;
  std::vector<double> values;
};

// True as soon as `done` is; false after 30 s.
bool becomes(const std::function<bool()>& done);

class pushgateway {
 public:
  // Returns when it answers. Throws std::runtime_error when it does not.
  explicit pushgateway(const std::filesystem::path& where);
  int port() const { return port_; }

 private:
  int port_;
  cli::program process_;
};

class prometheus {
 public:
  // With the configuration and the rules of deploy/prometheus as they are, looking at these ports
  // of 127.0.0.1. Files appear in `where`. Returns when it answers; throws std::runtime_error.
  prometheus(const std::filesystem::path& where, const std::vector<int>& metrics_ports,
             const std::vector<int>& gateway_ports);

  // A query at every second of the stretch. One that Prometheus refuses is a failure of the test,
  // and has no series.
  std::vector<series> ask(std::string_view expr, const stretch& when) const;
  // The one value of a query at a moment; NaN, and a failure, when it has not exactly one.
  double value(std::string_view expr, double at_s) const;
  // The values of a label of the series that fit.
  std::vector<std::string> label_values(std::string_view selector, std::string_view label,
                                        const stretch& when) const;
  // What /api/v1/rules says.
  nlohmann::json rules() const;

 private:
  nlohmann::json get(const std::string& path) const;

  int port_;
  cli::program process_;
};

}  // namespace lockmark::dashboards
