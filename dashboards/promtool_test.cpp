// Prometheus's own checker accepts the configuration and the rules of deploy/prometheus, and
// refuses wrong ones.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <fstream>

#include "dashboards/queries.hpp"
#include "deploy/local/process.hpp"
#include "program/test_program.hpp"

namespace lockmark::dashboards {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class promtool : public testing::Test {
 protected:
  promtool() { fs::copy("deploy/prometheus", dir_.path(), fs::copy_options::recursive); }

  cli::ended check(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), local::find_program("promtool", "prometheus"));
    return cli::program(arguments, dir_.path()).wait(30s);
  }
  cli::ended check(const char* what, const char* which, const char* file) {
    return check({what, which, (dir_ / file).string()});
  }

  void replace(const char* file, const std::string& from, const std::string& to) {
    std::string text = cli::read_text(dir_ / file);
    const auto at = text.find(from);
    ASSERT_NE(at, text.npos) << from;
    text.replace(at, from.size(), to);
    std::ofstream(dir_ / file) << text;
  }

  // For an alert, in the order of rules_test.yml: "fires" or "quiet".
  std::vector<std::string> expectations_of(const std::string& alert) {
    std::vector<std::string> all;
    const YAML::Node file = YAML::LoadFile((dir_ / "rules_test.yml").string());
    for (const YAML::Node& test : file["tests"]) {
      for (const YAML::Node& each : test["alert_rule_test"]) {
        if (each["alertname"].as<std::string>() != alert) continue;
        all.emplace_back(each["exp_alerts"].IsDefined() ? "fires" : "quiet");
      }
    }
    return all;
  }

  cli::scratch dir_;
};

TEST_F(promtool, accepts_the_configuration) {
  const cli::ended e = check("check", "config", "prometheus.yml");
  EXPECT_EQ(e.status, 0) << e.out << e.err;
  EXPECT_THAT(e.out, HasSubstr("2 rule files found"));
}

TEST_F(promtool, accepts_the_rules) {
  for (const char* file : {"rules.yml", "alerts.yml"}) {
    const cli::ended e = check("check", "rules", file);
    EXPECT_EQ(e.status, 0) << e.out << e.err;
  }
}

TEST_F(promtool, sees_each_alert_fire_and_not_fire) {
  const cli::ended e = check("test", "rules", "rules_test.yml");
  EXPECT_EQ(e.status, 0) << e.out << e.err;
  // Every alert has a test for firing and one for staying quiet.
  for (const rule& r : rules_of("deploy/prometheus/alerts.yml")) {
    EXPECT_THAT(expectations_of(r.name), UnorderedElementsAre("fires", "quiet")) << r.name;
  }
}

TEST_F(promtool, refuses_what_is_wrong) {
  replace("prometheus.yml", "scrape_timeout: 1s", "scrape_timeout: 2s");
  EXPECT_NE(check("check", "config", "prometheus.yml").status, 0);
  replace("rules.yml", "rate(lockmark_grants_total[15s])", "rate(lockmark_grants_total)");
  EXPECT_NE(check("check", "rules", "rules.yml").status, 0);
}

TEST_F(promtool, notices_an_alert_that_does_not_fire) {
  replace("alerts.yml", R"((lockmark_violations_total{kind!="possible"}) > 0)",
          R"((lockmark_violations_total{kind!="possible"}) > 3)");
  const cli::ended e = check("test", "rules", "rules_test.yml");
  EXPECT_NE(e.status, 0);
  EXPECT_THAT(e.out + e.err, HasSubstr("LockmarkViolation"));
}

}  // namespace
}  // namespace lockmark::dashboards
