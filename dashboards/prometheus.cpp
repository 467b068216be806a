#include "dashboards/prometheus.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "deploy/local/ask.hpp"
#include "deploy/local/ports.hpp"
#include "deploy/local/process.hpp"
#include "harness/metrics/test_scrape.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::dashboards {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using json = nlohmann::json;

// Percent-encoded, for the query of a URL.
std::string escaped(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      made += c;
    } else {
      made += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return made;
}

void await_ready(int port, const char* name, const cli::program& process) {
  if (local::eventually([&] { return !metrics::http_get(port, "/-/ready").empty(); }, 30s)) return;
  throw std::runtime_error(fmt::format("{} does not answer; it says: {}", name, process.err()));
}

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

std::string target_list(const std::vector<int>& ports) {
  std::string list = "- targets: [";
  for (const int port : ports) list += fmt::format("'127.0.0.1:{}',", port);
  return list + "]\n";
}

// Writes its files and returns the command line.
std::vector<std::string> command_of(const fs::path& where, int port,
                                    const std::vector<int>& metrics_ports,
                                    const std::vector<int>& gateway_ports) {
  const fs::path config = where / "prometheus";
  fs::create_directories(config);
  for (const char* file : {"prometheus.yml", "rules.yml", "alerts.yml"}) {
    fs::copy_file(fs::path("deploy/prometheus") / file, config / file);
  }
  if (!metrics_ports.empty()) write(config / "targets/lockmark.yml", target_list(metrics_ports));
  if (!gateway_ports.empty()) write(config / "targets/pushgateway.yml", target_list(gateway_ports));
  return {local::find_program("prometheus", "prometheus"),
          fmt::format("--config.file={}", (config / "prometheus.yml").string()),
          fmt::format("--storage.tsdb.path={}", (where / "tsdb").string()),
          fmt::format("--web.listen-address=127.0.0.1:{}", port), "--log.level=warn"};
}

// Values are texts: "0.5", "NaN", "+Inf".
double number(const json& text) {
  return std::strtod(text.get_ref<const std::string&>().c_str(), nullptr);
}

}  // namespace

double seconds_now() {
  return static_cast<double>(wall_time_ns()) / 1e9;
}

pushgateway::pushgateway(const fs::path& where)
    : port_(ports_.take("pushgateway")),
      process_({local::find_program("prometheus-pushgateway", "prometheus-pushgateway"),
                fmt::format("--web.listen-address=127.0.0.1:{}", port_)},
               where) {
  await_ready(port_, "the Pushgateway", process_);
}

prometheus::prometheus(const fs::path& where, const std::vector<int>& metrics_ports,
                       const std::vector<int>& gateway_ports)
    : port_(ports_.take("prometheus")),
      process_(command_of(where, port_, metrics_ports, gateway_ports), where) {
  await_ready(port_, "Prometheus", process_);
}

json prometheus::get(const std::string& path) const {
  const metrics::answer a = metrics::http_ask(port_, path);
  json body = json::parse(a.body, nullptr, false);
  const bool done = body.is_object() && body.value("status", "") == "success";
  EXPECT_TRUE(done) << path << ": " << a.status << " " << a.body;
  return done ? body.at("data") : json::object();
}

std::vector<series> prometheus::ask(std::string_view expr, const stretch& when) const {
  const json data = get(fmt::format("/api/v1/query_range?query={}&start={:.3f}&end={:.3f}&step=1",
                                    escaped(expr), when.begin_s, when.end_s));
  std::vector<series> all;
  for (const json& one : data.value("result", json::array())) {
    series s;
    for (const auto& [name, text] : one.at("metric").items())
      s.labels[name] = text.get<std::string>();
    for (const json& point : one.at("values")) s.values.push_back(number(point.at(1)));
    all.push_back(std::move(s));
  }
  return all;
}

double prometheus::value(std::string_view expr, double at_s) const {
  const json data = get(fmt::format("/api/v1/query?query={}&time={:.3f}", escaped(expr), at_s));
  const json result = data.value("result", json::array());
  EXPECT_EQ(result.size(), 1u) << expr << " has " << result.dump();
  if (result.size() != 1) return std::numeric_limits<double>::quiet_NaN();
  return number(result.at(0).at("value").at(1));
}

std::vector<std::string> prometheus::label_values(std::string_view selector, std::string_view label,
                                                  const stretch& when) const {
  const json values = get(fmt::format("/api/v1/label/{}/values?match[]={}&start={:.3f}&end={:.3f}",
                                      label, escaped(selector), when.begin_s, when.end_s));
  return values.is_array() ? values.get<std::vector<std::string>>() : std::vector<std::string>();
}

json prometheus::rules() const {
  return get("/api/v1/rules").value("groups", json::array());
}

}  // namespace lockmark::dashboards
