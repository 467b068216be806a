#include "dashboards/watched_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "deploy/local/ask.hpp"
#include "deploy/local/ports.hpp"

namespace lockmark::dashboards {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using json = nlohmann::json;

}  // namespace

watched_run::watched_run(way how, std::vector<std::string> arguments, int expected_status) {
  local::port_source ports{std::nullopt};
  std::vector<int> metrics_ports;
  std::vector<int> gateway_ports;
  if (how == way::scraped) {
    metrics_ports.push_back(ports.take("metrics"));
    arguments.insert(arguments.end(), {"--metrics", fmt::format("127.0.0.1:{}", metrics_ports[0])});
  } else {
    gateway_ = std::make_unique<pushgateway>(dir_.path());
    gateway_ports.push_back(gateway_->port());
    arguments.insert(arguments.end(),
                     {"--push", fmt::format("http://127.0.0.1:{}", gateway_ports[0])});
  }
  prometheus_ = std::make_unique<prometheus>(dir_.path(), metrics_ports, gateway_ports);
  arguments.insert(arguments.end(), {"--out", (dir_ / "runs").string()});
  when_.begin_s = seconds_now();
  const cli::ended e = cli::run(dir_.path(), std::move(arguments), 90s);
  EXPECT_EQ(e.status, expected_status) << e.out << e.err;
  when_.end_s = seconds_now();
  // The last push stays at the gateway, and is seen within two scrapes.
  const bool seen = local::eventually(
      [&] {
        when_.end_s = seconds_now();
        const std::string ended =
            R"(max(last_over_time(lockmark_run_phase{phase="ended"}[2m])) == 1)";
        return !prometheus_->ask(ended, {when_.end_s - 1, when_.end_s}).empty();
      },
      30s);
  EXPECT_TRUE(seen) << "Prometheus has not seen the end of the run";
  // Whole steps of a query, so that its last one sees the figures of the ended run.
  when_.begin_s = when_.end_s - std::ceil(when_.end_s - when_.begin_s);
}

std::map<std::string, std::string> watched_run::variables() const {
  const auto range_s = static_cast<int>(std::ceil(when_.end_s - when_.begin_s)) + 1;
  return {{"lock", ".*"},
          {"topology", ".*"},
          {"scenario", ".*"},
          {"instance", ".*"},
          {"__interval", "1s"},
          {"__rate_interval", "4s"},  // four times the scrape interval, as in Grafana
          {"__range", fmt::format("{}s", range_s)}};
}

std::vector<json> watched_run::told_by_each() const {
  std::vector<json> all;
  for (const auto& entry : fs::recursive_directory_iterator(dir_ / "runs")) {
    if (entry.path().filename() == "run.json") all.push_back(cli::read_json(entry.path()));
  }
  return all;
}

json watched_run::told() const {
  const std::vector<json> all = told_by_each();
  EXPECT_EQ(all.size(), 1u);
  return all.empty() ? json::object() : all[0];
}

double watched_run::last(const std::string& selector) const {
  return prometheus_->value(fmt::format("last_over_time({}[2m])", selector), when_.end_s);
}

}  // namespace lockmark::dashboards
