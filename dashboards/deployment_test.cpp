// The files in deploy/ for Grafana and for a container engine are consistent with each other and
// with lockmark. Whether compose.yaml is valid is checked elsewhere (deploy/schema); nothing is
// started here.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "harness/config/target.hpp"

namespace lockmark::dashboards {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using names = std::set<std::string, std::less<>>;

// Undocumented keys of a mapping, with their place.
std::vector<std::string> unknown_keys(const YAML::Node& of, const names& known,
                                      const std::string& at) {
  std::vector<std::string> found;
  for (const auto& entry : of) {
    const auto key = entry.first.as<std::string>();
    if (!known.contains(key)) found.push_back(fmt::format("{}{}: unknown key", at, key));
  }
  return found;
}

void append(std::vector<std::string>& to, std::vector<std::string> more) {
  to.insert(to.end(), more.begin(), more.end());
}

// Keys and values: grafana.com/docs, "Provision Grafana", sections "Data sources" and "Dashboards".
std::vector<std::string> complaints_about_data_sources(const YAML::Node& root) {
  std::vector<std::string> found =
      unknown_keys(root, {"apiVersion", "deleteDatasources", "datasources"}, "");
  if (root["apiVersion"].as<int>(0) != 1) found.emplace_back("apiVersion: is not 1");
  for (const YAML::Node& each : root["datasources"]) {
    append(found, unknown_keys(each,
                               {"name", "type", "access", "orgId", "uid", "url", "user", "database",
                                "basicAuth", "basicAuthUser", "withCredentials", "isDefault",
                                "jsonData", "secureJsonData", "version", "editable"},
                               "datasources/"));
    append(found, unknown_keys(each["jsonData"],
                               {"httpMethod", "timeInterval", "queryTimeout", "prometheusType",
                                "prometheusVersion", "manageAlerts", "cacheLevel",
                                "incrementalQuerying", "exemplarTraceIdDestinations"},
                               "datasources/jsonData/"));
    if (each["type"].as<std::string>("") != "prometheus") found.emplace_back("type: no Prometheus");
    if (each["access"].as<std::string>("") != "proxy") found.emplace_back("access: is not proxy");
  }
  return found;
}

std::vector<std::string> complaints_about_providers(const YAML::Node& root) {
  std::vector<std::string> found = unknown_keys(root, {"apiVersion", "providers"}, "");
  if (root["apiVersion"].as<int>(0) != 1) found.emplace_back("apiVersion: is not 1");
  for (const YAML::Node& each : root["providers"]) {
    append(found, unknown_keys(each,
                               {"name", "orgId", "folder", "folderUid", "type", "disableDeletion",
                                "updateIntervalSeconds", "allowUiUpdates", "options"},
                               "providers/"));
    append(found, unknown_keys(each["options"], {"path", "foldersFromFilesStructure"},
                               "providers/options/"));
    if (each["type"].as<std::string>("") != "file") found.emplace_back("type: is not file");
    if (each["folder"].as<std::string>("") != "lockmark") found.emplace_back("folder: another one");
    if (each["allowUiUpdates"].as<bool>(true)) found.emplace_back("allowUiUpdates: is not false");
    if (each["options"]["path"].as<std::string>("").empty()) found.emplace_back("path: is missing");
  }
  return found;
}

constexpr const char* data_sources = "deploy/grafana/provisioning/datasources/lockmark.yaml";
constexpr const char* providers = "deploy/grafana/provisioning/dashboards/lockmark.yaml";

TEST(provisioning, has_documented_keys_only) {
  EXPECT_THAT(complaints_about_data_sources(YAML::LoadFile(data_sources)), IsEmpty());
  EXPECT_THAT(complaints_about_providers(YAML::LoadFile(providers)), IsEmpty());
}

TEST(provisioning, that_is_wrong_is_found) {
  YAML::Node source = YAML::LoadFile(data_sources);
  source["datasources"][0]["acces"] = "proxy";
  source["datasources"][0]["jsonData"]["interval"] = "1s";
  EXPECT_THAT(
      complaints_about_data_sources(source),
      ElementsAre("datasources/acces: unknown key", "datasources/jsonData/interval: unknown key"));
  YAML::Node provider = YAML::LoadFile(providers);
  provider["apiVersion"] = 2;
  provider["providers"][0]["allowUiUpdates"] = true;
  EXPECT_THAT(complaints_about_providers(provider),
              ElementsAre("apiVersion: is not 1", "allowUiUpdates: is not false"));
}

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);) parts.push_back(part);
  return parts;
}

// --- compose ---

const fs::path folder = "deploy/compose";

YAML::Node services() {
  return YAML::LoadFile((folder / "compose.yaml").string())["services"];
}

// A service's own value, or the one from its merge key ("<<: *redis"), which this library does not
// resolve.
YAML::Node part(const YAML::Node& service, const std::string& key) {
  if (service[key].IsDefined()) return service[key];
  return service["<<"].IsDefined() ? part(service["<<"], key) : YAML::Node(YAML::NodeType::Null);
}

// "name:1.2.3" or "name:v1.2.3": a tag that will still mean the same tomorrow. PostgreSQL's
// versions have two numbers.
bool is_pinned(const std::string& image) {
  std::string tag = image.substr(std::min(image.rfind(':'), image.size() - 1) + 1);
  if (tag.starts_with("v")) tag.erase(0, 1);
  int numbers = 0;
  for (const std::string& number : split(tag, '.')) {
    const bool digits = std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
    if (number.empty() || !digits) return false;
    ++numbers;
  }
  return numbers == (image.starts_with("postgres:") ? 2 : 3);
}

TEST(compose, pins_every_image) {
  int images = 0;
  for (const auto& service : services()) {
    const auto image = part(service.second, "image").as<std::string>("");
    EXPECT_TRUE(is_pinned(image)) << service.first << ": " << image;
    ++images;
  }
  EXPECT_GT(images, 25);
  for (const char* loose : {"redis", "redis:latest", "redis:7", "redis:7.0", "redis:7.0.x",
                            "redis:7.0.15.1", "postgres:17"}) {
    EXPECT_FALSE(is_pinned(loose)) << loose;
  }
}

TEST(compose, asks_every_service_whether_it_is_well) {
  for (const auto& service : services()) {
    EXPECT_TRUE(part(service.second, "healthcheck").IsMap()) << service.first;
  }
}

TEST(compose, mounts_what_exists) {
  int mounts = 0;
  for (const auto& service : services()) {
    for (const YAML::Node& volume : part(service.second, "volumes")) {
      const auto text = volume.as<std::string>();
      EXPECT_TRUE(fs::exists(folder / text.substr(0, text.find(':')))) << text;
      EXPECT_TRUE(text.ends_with(":ro")) << text;
      ++mounts;
    }
  }
  EXPECT_GT(mounts, 10);
}

// The addresses reachable from outside ("127.0.0.1:6421"), and the fixed addresses behind them
// ("172.30.77.31:6379").
struct published {
  names outside;
  std::map<std::string, std::string> inside;  // fixed address to outside address
};

published published_ports() {
  published all;
  for (const auto& service : services()) {
    const std::string address =
        service.second["networks"].IsMap()
            ? service.second["networks"]["lockmark"]["ipv4_address"].as<std::string>("")
            : std::string();
    for (const YAML::Node& port : service.second["ports"]) {
      const auto text = port.as<std::string>();
      const auto colon = text.rfind(':');
      EXPECT_TRUE(text.starts_with("127.0.0.1:")) << text << " is reachable from elsewhere";
      EXPECT_TRUE(all.outside.insert(text.substr(0, colon)).second) << text << " twice";
      if (!address.empty()) all.inside[address + text.substr(colon)] = text.substr(0, colon);
    }
  }
  return all;
}

// The URLs in backquotes in README.md's table of topologies.
std::vector<std::string> urls_in_readme() {
  std::ifstream in(folder / "README.md");
  std::vector<std::string> urls;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("| `")) continue;
    for (const std::string& part : split(line, '`')) {
      if (part.find("://") != part.npos) urls.push_back(part);
    }
  }
  return urls;
}

std::string name_of(const config::host_port& h) {
  return fmt::format("{}:{}", h.host, h.port);
}

std::vector<std::string> complaints_about_url(const std::string& url, const published& ports) {
  const auto t = config::parse_target(url);
  if (!t) return {t.error().sentence};
  std::vector<std::string> found;
  for (const config::host_port& h : t->hosts) {
    if (!ports.outside.contains(name_of(h))) {
      found.push_back(fmt::format("{} is not published", name_of(h)));
    }
  }
  for (const auto& [told, reached] : t->nat) {
    const auto at = ports.inside.find(name_of(told));
    if (at == ports.inside.end()) {
      found.push_back(fmt::format("no server is at {}", name_of(told)));
    } else if (at->second != name_of(reached)) {
      found.push_back(fmt::format("{} is published as {}", name_of(told), at->second));
    }
  }
  return found;
}

TEST(compose, has_urls_that_lockmark_understands) {
  const published ports = published_ports();
  const auto urls = urls_in_readme();
  EXPECT_EQ(urls.size(), 10u);
  for (const std::string& url : urls) EXPECT_THAT(complaints_about_url(url, ports), IsEmpty());
}

TEST(compose, urls_that_lead_nowhere_are_found) {
  const published ports = published_ports();
  EXPECT_THAT(complaints_about_url("redis://127.0.0.1:1", ports),
              ElementsAre("127.0.0.1:1 is not published"));
  EXPECT_THAT(
      complaints_about_url("redis+cluster://127.0.0.1:6421?nat=172.30.77.31:6379>127.0.0.1:6422,"
                           "172.30.77.99:6379>127.0.0.1:6423",
                           ports),
      ElementsAre("172.30.77.31:6379 is published as 127.0.0.1:6421",
                  "no server is at 172.30.77.99:6379"));
  EXPECT_THAT(complaints_about_url("redis+cluster://a?nat=b", ports), testing::SizeIs(1));
}

}  // namespace
}  // namespace lockmark::dashboards
