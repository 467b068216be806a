// The outcome for programs: JSON, a history of one line each, and CSV for Apache Otava.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "harness/base/errors.hpp"
#include "harness/gate/metrics.hpp"
#include "harness/gate/outcome.hpp"

namespace lockmark::gate {
namespace {

using json = nlohmann::ordered_json;

// JSON has null for what is not finite.
json assessment_json(const assessment& a) {
  return {{"worsening", a.effect},
          {"least", a.least},
          {"most", a.most},
          {"p_value", a.p_value},
          {"smallest_detectable", a.blind_spot}};
}

json metric_json(const finding& f) {
  json j;
  j["name"] = f.of.name;
  j["verdict"] = name_of(f.how);
  j["why"] = f.why.empty() ? json() : json(f.why);
  j["exact"] = f.of.exact;
  j["higher_is_better"] = f.of.higher_is_better;
  j["tolerated"] = f.of.tolerated;
  j["baseline"] = f.baseline;
  j["candidate"] = f.candidate;
  j["pairs"] = f.pairs;
  j["suspicious"] = f.suspicious;
  j["assessment"] = assessment_json(f.shown);
  return j;
}

json value_or_null(const json& from, const char* name) {
  return from.is_object() ? from.value(name, json()) : json();
}

// A field that never needs quotes: the user configures Otava's CSV dialect.
std::string field(const json& value) {
  std::string text = value.is_string() ? value.get<std::string>()
                     : value.is_null() ? ""
                                       : value.dump();
  std::ranges::replace_if(
      text, [](char c) { return c == ',' || c == '"' || c == '\'' || c == '\n' || c == '\r'; },
      ' ');
  return text;
}

bool is_history(const json& line) {
  return line.is_object() && line.contains("candidate_values") && line.contains("time");
}

}  // namespace

json outcome_json(const outcome& o) {
  json metrics = json::array();
  for (const finding& f : o.found.metrics) metrics.push_back(metric_json(f));
  json runs = json::array();
  for (const auto& [baseline, candidate] : o.runs) {
    runs.push_back(
        {{"baseline", baseline.empty() ? json() : json(baseline)}, {"candidate", candidate}});
  }
  json j;
  j["schema_version"] = "1.1";
  j["verdict"] = verdict_of(o);
  j["exit_status"] = exit_status(o);
  j["reasons"] = o.found.reasons;
  j["notes"] = o.found.notes;
  j["job"] = o.job;
  j["baseline"] = o.baseline;
  j["candidate"] = o.candidate;
  j["stored_baseline"] = o.stored.empty() ? json() : json(o.stored);
  j["stored_runs"] = o.found.stored;
  j["started_utc"] = o.started_utc;
  j["took_s"] = o.took_s;
  j["seed"] = o.seed;
  j["order"] = o.order;
  j["pairs"] = o.found.pairs;
  j["violations"] = o.found.violations;
  j["control"] = o.found.control ? assessment_json(*o.found.control) : json();
  j["metrics"] = std::move(metrics);
  j["runs"] = std::move(runs);
  j["provenance"] = o.provenance;
  return j;
}

std::string history_line(const outcome& o) {
  json baseline = json::object(), candidate = json::object(), worsening = json::object();
  for (const finding& f : o.found.metrics) {
    baseline[f.of.name] = f.baseline;
    candidate[f.of.name] = f.candidate;
    worsening[f.of.name] = f.shown.effect;
  }
  json j;
  j["time"] = o.started_utc;
  j["commit"] = value_or_null(o.provenance, "git_revision");
  j["job"] = o.job;
  j["baseline"] = o.baseline;
  j["candidate"] = o.candidate;
  j["verdict"] = verdict_of(o);
  j["seed"] = o.seed;
  j["order"] = o.order;
  j["pairs"] = o.found.pairs;
  j["violations"] = o.found.violations;
  j["baseline_values"] = std::move(baseline);
  j["candidate_values"] = std::move(candidate);
  j["worsening"] = std::move(worsening);
  j["host"] = value_or_null(value_or_null(o.provenance, "host"), "name");
  return fmt::format("{}\n", j.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string otava_csv(const std::string& history, const std::string& file) {
  const auto metrics = known_metrics(true);
  std::string csv = "time,commit,job,candidate,verdict";
  for (const metric& m : metrics) csv += fmt::format(",{}", m.name);
  csv += "\n";
  std::istringstream lines(history);
  std::size_t rows = 0;
  for (std::string text; std::getline(lines, text);) {
    const json line = json::parse(text, nullptr, false);
    if (!is_history(line)) continue;
    ++rows;
    csv += fmt::format("{},{},{},{},{}", field(line["time"]), field(value_or_null(line, "commit")),
                       field(value_or_null(line, "job")), field(value_or_null(line, "candidate")),
                       field(value_or_null(line, "verdict")));
    for (const metric& m : metrics) {
      csv += fmt::format(",{}", field(value_or_null(line["candidate_values"], m.name.c_str())));
    }
    csv += "\n";
  }
  if (rows == 0) {
    throw usage_error(
        "--otava: {} holds no line of lockmark gate --history, so there is nothing to export",
        file);
  }
  return csv;
}

}  // namespace lockmark::gate
