// The dashboards conform to Grafana's published schema, and compose.yaml to the Compose
// Specification; and a mistake in either is found. Uses the checkers of deploy/schema, which
// deploy/schema/build fetches and builds.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "program/test_program.hpp"

namespace lockmark::dashboards {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;
using json = nlohmann::json;

class schema : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* checker : {"grafana", "compose"}) {
      ASSERT_TRUE(fs::exists(program(checker))) << "run deploy/schema/build first";
    }
  }

  static fs::path program(const char* checker) {
    return fs::absolute("build/schema") / checker / "check";
  }

  cli::ended check(const char* checker, const std::vector<std::string>& files) const {
    std::vector<std::string> words{program(checker).string()};
    words.insert(words.end(), files.begin(), files.end());
    return cli::program(words, dir_.path()).wait(30s);
  }

  // Writes live.json with one change; returns its path.
  std::string changed_live(const json::json_pointer& at, const json& value) {
    json changed = cli::read_json("dashboards/live.json");
    changed[at] = value;
    const fs::path file = dir_ / fmt::format("changed_{}.json", ++changes_);
    std::ofstream(file) << changed.dump();
    return file.string();
  }

  // Checks compose.yaml, as if in its folder, with one line changed.
  cli::ended check_compose_with(const std::string& from, const std::string& to) const {
    std::string text = cli::read_text("deploy/compose/compose.yaml");
    const auto at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    if (at != text.npos) text.replace(at, from.size(), to);
    std::ofstream(dir_ / "compose.yaml") << text;
    return check("compose", {(dir_ / "compose.yaml").string()});
  }

  cli::scratch dir_;
  int changes_ = 0;
};

TEST_F(schema, of_grafana_accepts_every_dashboard) {
  const cli::ended e = check(
      "grafana", {"dashboards/live.json", "dashboards/comparison.json", "dashboards/safety.json"});
  EXPECT_EQ(e.status, 0) << e.out << e.err;
}

// Each mistake is found, and named.
TEST_F(schema, of_grafana_refuses_what_is_wrong) {
  struct mistake {
    const char* at;
    json value;
    const char* word;
  };
  const std::vector<mistake> mistakes{
      {"/titel", "x", "titel"},
      {"/schemaVersion", "39", "schemaVersion"},
      {"/panels/0/type", "statt", "panel 'Verdict'"},
      {"/panels/0/gridPos/w", "4", "\"w\""},
      {"/panels/0/fieldConfig/defaults/units", "s", "units"},
      {"/panels/0/options/textModus", "name", "textModus"},
      {"/panels/0/options/textMode", "loud", "textMode"},
      {"/panels/0/targets/0/query", "up", "query"},
      {"/templating/list/1/includeall", true, "includeall"},
      {"/annotations/list/0/exprs", "up", "annotation 'faults'"},
  };
  std::vector<std::string> files;
  for (const mistake& m : mistakes) {
    files.push_back(changed_live(json::json_pointer(m.at), m.value));
  }
  const cli::ended e = check("grafana", files);
  EXPECT_EQ(e.status, 1);
  std::istringstream lines(e.out);
  std::map<std::string, std::string> said;
  for (std::string line; std::getline(lines, line);) {
    for (const std::string& file : files) {
      if (line.starts_with(file)) said[file] += line.substr(file.size());
    }
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    EXPECT_THAT(said[files[i]], HasSubstr(mistakes[i].word)) << mistakes[i].at;
  }
}

TEST_F(schema, of_compose_accepts_the_topologies) {
  const cli::ended e = check("compose", {"deploy/compose/compose.yaml"});
  EXPECT_EQ(e.status, 0) << e.out << e.err;
  EXPECT_THAT(e.out, HasSubstr("services"));
}

TEST_F(schema, of_compose_refuses_what_is_wrong) {
  const auto refused = [this](const char* from, const char* to, const char* word) {
    const cli::ended e = check_compose_with(from, to);
    EXPECT_EQ(e.status, 1) << to;
    EXPECT_THAT(e.out, HasSubstr(word));
  };
  refused("    extra_hosts:", "    extra_host:", "extra_host");
  refused("interval: 2s", "interval: soon", "interval");
  refused("networks: [lockmark]", "networks: [lockmarc]", "lockmarc");
  refused("      prometheus: {condition: service_healthy}",
          "      prometheus: {condition: service_well}", "condition");
  refused("      mariadb-1: {condition", "      mariadb-9: {condition", "mariadb-9");
}

}  // namespace
}  // namespace lockmark::dashboards
