#include "harness/report/junit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/errors.hpp"
#include "harness/report/row.hpp"
#include "harness/report/run_text.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report {
namespace {

using json = nlohmann::ordered_json;
using properties = std::vector<std::pair<std::string, std::string>>;

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

// A lock with an option counts as a separate lock.
std::string name_of(const row& r) {
  const auto option = r.implementation.rfind(" [");
  const std::string options =
      option == r.implementation.npos ? "" : r.implementation.substr(option);
  return fmt::format("{}{} on {}", r.lock, options, r.topology);
}

properties provenance_of(const recorded_run& run) {
  const json& p = run.content.at("provenance");
  properties all{{"run", run.name}};
  const auto add = [&all](const std::string& name, const json& value) {
    if (!value.is_null()) all.emplace_back(name, text_of(value));
  };
  for (const char* name : {"target", "workload", "seed", "started_utc"}) {
    add(name, run.content.at("run").at(name));
  }
  for (const char* name :
       {"lockmark_version", "git_revision", "git_dirty", "compiler", "build_type"}) {
    add(name, p.at(name));
  }
  for (const auto& [name, value] : p.at("host").items()) add("host." + name, value);
  for (const char* group : {"server", "lock_options"}) {
    if (!p.at(group).is_object()) continue;
    const std::string before = std::string_view(group) == "server" ? "" : "options.";
    for (const auto& [name, value] : p.at(group).items()) add(before + name, value);
  }
  return all;
}

void judge(const recorded_run& run, const row& r, test_case& c) {
  using outcome = test_case::outcome;
  const auto end = [&c](outcome how, std::string type, std::string message) {
    c.how = how;
    c.type = std::move(type);
    c.message = std::move(message);
  };
  const json& about = run.content.at("run");
  const std::string why = text_of(about.at("why"));
  if (r["violations"].value.value_or(0) > 0) {
    return end(outcome::failed, "violation", verdict_sentence(run));
  }
  if (about.at("status") == "interrupted") return end(outcome::skipped, "interrupted", why);
  if (!r.complete) {
    const std::string status = text_of(about.at("status"));
    return end(outcome::error, status == "running" ? "incomplete" : status, why);
  }
  if (!r.valid) {
    return end(outcome::error, "invalid",
               fmt::format("INVALID: {}", fmt::join(texts_of(r.reasons), "; ")));
  }
}

double number_or_0(const json& value) {
  return value.is_number() ? value.get<double>() : 0;
}

struct suite {
  std::string name;
  std::vector<const test_case*> cases;
};

std::vector<suite> suites_of(const std::vector<test_case>& cases) {
  std::vector<suite> all;
  for (const test_case& c : cases) {
    const std::string name = c.scenario.empty() ? "lockmark" : c.scenario;
    auto at = std::find_if(all.begin(), all.end(), [&](const suite& s) { return s.name == name; });
    if (at == all.end()) at = all.insert(all.end(), suite{name, {}});
    at->cases.push_back(&c);
  }
  return all;
}

// The properties that all cases of a suite share.
properties common_to(const suite& s) {
  properties common = s.cases.front()->properties;
  std::erase_if(common, [&](const auto& property) {
    return std::any_of(s.cases.begin(), s.cases.end(), [&](const test_case* c) {
      return std::find(c->properties.begin(), c->properties.end(), property) == c->properties.end();
    });
  });
  return common;
}

std::string properties_xml(const properties& all, std::string_view indent) {
  if (all.empty()) return "";
  std::string xml = fmt::format("{}<properties>\n", indent);
  for (const auto& [name, value] : all) {
    xml += fmt::format("{}  <property name=\"{}\" value=\"{}\"/>\n", indent, xml_text(name),
                       xml_text(value));
  }
  return xml + fmt::format("{}</properties>\n", indent);
}

std::string outcome_xml(const test_case& c) {
  const char* const element = c.how == test_case::outcome::failed  ? "failure"
                              : c.how == test_case::outcome::error ? "error"
                                                                   : "skipped";
  const std::string type =
      c.how == test_case::outcome::skipped ? "" : fmt::format(" type=\"{}\"", xml_text(c.type));
  return fmt::format("      <{} message=\"{}\"{}/>\n", element, xml_text(c.message), type);
}

std::string case_xml(const suite& s, const test_case& c, const properties& common) {
  std::string xml = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">\n",
                                xml_text(s.name), xml_text(c.name), c.seconds);
  properties own = c.properties;
  std::erase_if(own, [&](const auto& property) {
    return std::find(common.begin(), common.end(), property) != common.end();
  });
  xml += properties_xml(own, "      ");
  if (c.how != test_case::outcome::passed) xml += outcome_xml(c);
  if (!c.report.empty()) {
    xml += fmt::format("      <system-out>{}</system-out>\n", xml_text(c.report));
  }
  return xml + "    </testcase>\n";
}

struct totals {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double seconds = 0;

  void add(const test_case& c) {
    ++tests;
    failures += c.how == test_case::outcome::failed;
    errors += c.how == test_case::outcome::error;
    skipped += c.how == test_case::outcome::skipped;
    seconds += c.seconds;
  }
  std::string xml() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
                       tests, failures, errors, skipped, seconds);
  }
};

std::string suite_xml(const suite& s) {
  totals sum;
  std::string began;
  for (const test_case* c : s.cases) {
    sum.add(*c);
    const bool earlier = began.empty() || c->started_utc < began;
    if (!c->started_utc.empty() && earlier) began = c->started_utc;
  }
  // Older readers accept no time zone here; the time is UTC.
  const std::string at =
      began.empty() ? "" : fmt::format(" timestamp=\"{}\"", xml_text(began.substr(0, 19)));
  std::string xml =
      fmt::format("  <testsuite name=\"{}\" {}{}>\n", xml_text(s.name), sum.xml(), at);
  const properties common = common_to(s);
  xml += properties_xml(common, "    ");
  for (const test_case* c : s.cases) xml += case_xml(s, *c, common);
  return xml + "  </testsuite>\n";
}

}  // namespace

test_case test_case_of(const recorded_run& run) {
  const row r = row_of(run);
  test_case c;
  c.scenario = r.scenario;
  c.name = name_of(r);
  try {
    const json& about = run.content.at("run");
    c.seconds = number_or_0(about.at("window_s")) + number_or_0(about.at("warmup_s"));
    c.started_utc = text_of(about.at("started_utc"));
    c.properties = provenance_of(run);
    judge(run, r, c);
  } catch (const json::exception& e) {
    throw usage_error(
        fmt::format("run {}: its run.json is not as lockmark writes it: {}", run.name, e.what()));
  }
  c.report = run_summary_terminal(run);
  return c;
}

test_case unmeasured(std::string scenario, std::string name, std::string why) {
  test_case c;
  c.scenario = std::move(scenario);
  c.name = std::move(name);
  c.how = test_case::outcome::error;
  c.type = "unmeasured";
  c.message = std::move(why);
  return c;
}

std::string junit_xml(const std::vector<test_case>& cases) {
  totals sum;
  std::string suites;
  for (const test_case& c : cases) sum.add(c);
  for (const suite& s : suites_of(cases)) suites += suite_xml(s);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"lockmark\" "
      "{}>\n{}</testsuites>\n",
      sum.xml(), suites);
}

}  // namespace lockmark::report
