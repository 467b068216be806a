#include "harness/report/row.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "harness/driver.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report {
namespace {

using json = nlohmann::ordered_json;

template <class T>
std::optional<T> maybe(const json& value) {
  return value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}

std::string text_or_empty(const json& value) {
  return value.is_null() ? "" : value.get<std::string>();
}

std::vector<std::string> reasons_of(const json& content) {
  const json& run = content.at("run");
  const json& verdict = content.at("verdict");
  std::vector<std::string> reasons = verdict.at("reasons");
  if (!run.at("complete").get<bool>()) {
    const std::string why = text_or_empty(run.at("why"));
    reasons.insert(reasons.begin(), why.empty() ? "incomplete" : "incomplete: " + why);
  }
  const json& drifting = verdict.at("drifting");
  if (drifting.at("drifts") == true) {
    reasons.push_back(fmt::format("not stationary: p50 changed by {} a minute",
                                  share_text(drifting.at("change_per_minute"))));
  }
  return reasons;
}

void read_quantiles(const json& response, row& r) {
  for (const json& entry : response.at("quantiles")) {
    const double q = entry.at("q");
    const auto value = time_of(entry.at("value_ns"));
    if (q == 0.5) r.p50 = value;
    if (q == 0.9) r.p90 = value;
    if (q == 0.99) r.p99 = value;
    if (q == 0.999) r.p999 = value;
  }
  r.max = time_of(response.at("max_ns"));
}

row read_row(const json& content) {
  const json& run = content.at("run");
  const json& verdict = content.at("verdict");
  row r;
  r.lock = run.at("lock");
  r.topology = run.at("topology");
  r.implementation = text_or_empty(run.at("implementation"));
  r.scenario = text_or_empty(run.at("scenario"));
  r.success_rate = maybe<double>(content.at("success_rate"));
  r.tps = maybe<double>(content.at("tps"));
  r.samples = content.at("samples");
  read_quantiles(content.at("quantiles").at("response"), r);
  const json& transfer = content.at("handoff").at("transfer");
  if (!transfer.is_null()) r.handoff_p50_ns = maybe<std::int64_t>(transfer.at("p50_ns"));
  r.fairness = maybe<double>(content.at("fairness").at("jain_windowed"));
  const json& cost = content.at("cost_per_acquire");
  r.commands_per_acquire = maybe<double>(cost.at("client_commands_per_grant"));
  r.safety_class = verdict.at("safety_class");
  r.violations = maybe<std::uint64_t>(verdict.at("violations"));
  r.complete = run.at("complete");
  r.valid = r.complete && verdict.at("valid") == true;
  r.bound = r.valid && !verdict.at("bound").is_null();
  r.reasons = reasons_of(content);
  return r;
}

}  // namespace

row row_of(const recorded_run& run) {
  try {
    row r = read_row(run.content);
    r.run = run.name;
    return r;
  } catch (const json::exception& e) {
    throw usage_error(
        fmt::format("run {}: its run.json is not as lockmark writes it: {}", run.name, e.what()));
  }
}

std::vector<row> ranked(std::vector<row> rows) {
  std::vector<std::string> scenarios;
  for (const row& r : rows) {
    if (std::find(scenarios.begin(), scenarios.end(), r.scenario) == scenarios.end()) {
      scenarios.push_back(r.scenario);
    }
  }
  const auto place = [&](const row& r) {
    const auto group = std::find(scenarios.begin(), scenarios.end(), r.scenario);
    return std::tuple(group, !r.valid, r.valid ? -r.tps.value_or(0) : 0.0);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const row& a, const row& b) { return place(a) < place(b); });
  return rows;
}

}  // namespace lockmark::report
