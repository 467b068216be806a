#include "harness/report/junit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/base/lists.hpp"
#include "harness/report/formats.hpp"
#include "harness/report/row.hpp"
#include "harness/report/run_text.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report {

extern const lockmark::templates::texts templates;

namespace {

using outcome = test_case::outcome;
using properties = std::vector<std::pair<std::string, std::string>>;

properties provenance_of(const recorded_run& run) {
  const json& p = run.content.at("provenance");
  properties all{{"run", run.name}};
  const auto add = [&all](const std::string& name, const json& value) {
    if (!value.is_null()) all.emplace_back(name, shown(value, ""));
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
  const auto end = [&c](outcome how, std::string type, std::string message) {
    c.how = how;
    c.type = std::move(type);
    c.message = std::move(message);
  };
  const json& about = run.content.at("run");
  const std::string why = shown(about.at("why"), "");
  if (r["violations"].value.value_or(0) > 0) {
    return end(outcome::failed, "violation", verdict_sentence(run));
  }
  if (about.at("status") == "interrupted") return end(outcome::skipped, "interrupted", why);
  if (!r.complete) {
    const std::string status = shown(about.at("status"), "");
    return end(outcome::error, status == "running" ? "incomplete" : status, why);
  }
  if (!r.valid) {
    return end(outcome::error, "invalid",
               fmt::format("INVALID: {}", fmt::join(texts_of(r.reasons), "; ")));
  }
  if (r.untested) return end(outcome::skipped, "untested", text_of(*r.untested));
}

json json_of(const properties& all) {
  json list = json::array();
  for (const auto& [name, value] : all) list.push_back({{"name", name}, {"value", value}});
  return list;
}

json json_of(const test_case& c, const properties& common) {
  static constexpr const char* elements[] = {"", "failure", "error", "skipped"};
  properties own = c.properties;
  std::erase_if(own, [&](const auto& p) { return std::ranges::find(common, p) != common.end(); });
  return {{"name", c.name},       {"time", fmt::format("{:.3f}", c.seconds)},
          {"own", json_of(own)},  {"element", elements[static_cast<std::size_t>(c.how)]},
          {"message", c.message}, {"type", c.how == outcome::skipped ? "" : c.type},
          {"report", c.report}};
}

// The properties that all cases of a suite share.
properties common_to(const std::vector<test_case>& cases) {
  properties common = cases.front().properties;
  std::erase_if(common, [&](const auto& property) {
    return std::ranges::any_of(cases, [&](const test_case& c) {
      return std::ranges::find(c.properties, property) == c.properties.end();
    });
  });
  return common;
}

json totals_of(const std::vector<test_case>& cases) {
  const auto ended = [&](outcome how) { return std::ranges::count(cases, how, &test_case::how); };
  double seconds = 0;
  for (const test_case& c : cases) seconds += c.seconds;
  return {{"tests", cases.size()},
          {"failures", ended(outcome::failed)},
          {"errors", ended(outcome::error)},
          {"skipped", ended(outcome::skipped)},
          {"time", fmt::format("{:.3f}", seconds)}};
}

std::string suite_of(const test_case& c) {
  return c.scenario.empty() ? "lockmark" : c.scenario;
}

json suite_json(const std::string& name, const std::vector<test_case>& cases) {
  json suite = totals_of(cases);
  suite["suite"] = name;
  std::string began;
  for (const test_case& c : cases) {
    const bool earlier = began.empty() || c.started_utc < began;
    if (!c.started_utc.empty() && earlier) began = c.started_utc;
  }
  // Older readers accept no time zone here; the time is UTC.
  suite["began"] = began.substr(0, 19);
  const properties common = common_to(cases);
  suite["properties"] = json_of(common);
  for (const test_case& c : cases) suite["cases"].push_back(json_of(c, common));
  return suite;
}

}  // namespace

test_case test_case_of(const recorded_run& run) {
  const row r = row_of(run);
  test_case c;
  c.scenario = r.scenario;
  c.name = fmt::format("{} on {}", name_with_options(r), r.topology);
  from_content(run, [&](const json& content) {
    const json& about = content.at("run");
    c.seconds = real_of(about.at("window_s")) + real_of(about.at("warmup_s"));
    c.started_utc = shown(about.at("started_utc"), "");
    c.properties = provenance_of(run);
    judge(run, r, c);
  });
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
  json all = totals_of(cases);
  for (const std::string& name : distinct(cases, suite_of)) {
    std::vector<test_case> its;
    std::ranges::copy_if(cases, std::back_inserter(its),
                         [&](const test_case& c) { return suite_of(c) == name; });
    all["suites"].push_back(suite_json(name, its));
  }
  return templates::filled({templates, xml_text}, "junit", all) + "\n";
}

}  // namespace lockmark::report
