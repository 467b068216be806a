#include "harness/gate/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/base/errors.hpp"
#include "harness/config/redaction.hpp"
#include "harness/report/text.hpp"
#include "harness/stats/confidence.hpp"

namespace lockmark::gate {
namespace {

using json = nlohmann::ordered_json;
using optional_number = std::optional<double>;

optional_number number(const json& n) {
  return n.is_number() ? optional_number(n.get<double>()) : std::nullopt;
}

optional_number quantile(const report::recorded_run& run, double q, std::string_view name,
                         std::string_view who) {
  for (const json& entry : run.content.at("quantiles").at("response").at("quantiles")) {
    if (entry.at("q").get<double>() != q) continue;
    const auto time = report::time_of(entry.at("value_ns"));
    // Below a nanosecond there is no difference to see.
    if (time) return std::max(1.0, static_cast<double>(time->ns));
    throw usage_error(fmt::format(
        "{} needs {} attempts a run, and {} had {}; measure longer (--block), or leave it out "
        "(--metrics)",
        name, stats::samples_needed(q), who, report::whole_number(entry.at("n"))));
  }
  return std::nullopt;
}

// Half an attempt stands for none, so that there is a ratio.
optional_number success_rate(const report::recorded_run& run) {
  const optional_number share = number(run.content.at("success_rate"));
  const auto n = run.content.at("samples").get<double>();
  return share && n > 0 ? optional_number(std::max(*share, 0.5 / n)) : std::nullopt;
}

optional_number throughput(const report::recorded_run& run) {
  const optional_number tps = number(run.content.at("tps"));
  const optional_number window = number(run.content.at("run").at("window_s"));
  return tps && window && *window > 0 ? optional_number(std::max(*tps, 0.5 / *window))
                                      : std::nullopt;
}

optional_number handoff(const report::recorded_run& run) {
  const json& transfer = run.content.at("handoff").at("transfer");
  const optional_number p50 = transfer.is_null() ? std::nullopt : number(transfer.at("p50_ns"));
  return p50 ? optional_number(std::max(1.0, *p50)) : std::nullopt;
}

optional_number count(const report::recorded_run& run, const char* name) {
  const optional_number n = number(run.content.at("cost_per_acquire").at(name));
  return n && *n > 0 ? n : std::nullopt;
}

optional_number read(std::string_view metric, const report::recorded_run& run,
                     std::string_view who) {
  if (metric == "acquire_p50") return quantile(run, 0.5, metric, who);
  if (metric == "acquire_p99") return quantile(run, 0.99, metric, who);
  if (metric == "throughput") return throughput(run);
  if (metric == "success_rate") return success_rate(run);
  if (metric == "handoff_p50") return handoff(run);
  if (metric == "commands_per_acquire") return count(run, "client_commands_per_grant");
  return count(run, "round_trips_per_grant");
}

// How long and how often is no part of what is measured.
bool is_measure(std::string_view key) {
  constexpr std::array<std::string_view, 4> keys{"warmup", "floor", "seed", "lock"};
  return key.starts_with("stop.") || key.starts_with("options.") ||
         std::ranges::find(keys, key) != keys.end();
}

}  // namespace

std::vector<metric> known_metrics(bool counts_are_exact) {
  const double of_counts = counts_are_exact ? 0.005 : 0.05;
  return {{.name = "acquire_p50"},
          {.name = "acquire_p99", .tolerated = 0.10},
          {.name = "throughput", .higher_is_better = true},
          {.name = "success_rate", .higher_is_better = true, .tolerated = 0.005},
          {.name = "handoff_p50", .tolerated = 0.10},
          {.name = "commands_per_acquire", .tolerated = of_counts, .exact = counts_are_exact},
          {.name = "round_trips_per_acquire", .tolerated = of_counts, .exact = counts_are_exact}};
}

std::string known_metric_names() {
  std::string all;
  for (const metric& m : known_metrics(true)) {
    all += fmt::format("{}{}", all.empty() ? "" : ", ", m.name);
  }
  return all;
}

bool nobody_waits(const config::job& job) {
  const bool alone = job.keys.kind == config::key_choice::shape::own || job.clients_in_all() == 1;
  return alone && !job.renew && job.faults.empty();
}

std::optional<double> value_of(std::string_view metric, const report::recorded_run& run,
                               std::string_view who) {
  try {
    return read(metric, run, who);
  } catch (const json::exception& e) {
    throw usage_error(
        fmt::format("run {}: its run.json is not as lockmark writes it: {}", run.name, e.what()));
  }
}

std::vector<metric> measured_by(const std::vector<metric>& wanted, bool by_name,
                                const report::recorded_run& run, std::string_view who) {
  std::vector<metric> all;
  for (const metric& m : wanted) {
    if (value_of(m.name, run, who)) {
      all.push_back(m);
    } else if (by_name) {
      throw usage_error(
          fmt::format("--metrics: a run of {} has no {}: nothing of the kind happens in this job "
                      "with this lock",
                      who, m.name));
    }
  }
  return all;
}

block block_of(const std::vector<metric>& metrics, const report::recorded_run& run,
               std::string_view who) {
  block b;
  for (const metric& m : metrics) {
    const auto found = value_of(m.name, run, who);
    if (!found) {
      throw usage_error(fmt::format(
          "{} of {} ({}) cannot be compared: this run has none; leave it out (--metrics)", m.name,
          who, run.name));
    }
    b.values.push_back(*found);
  }
  const json& floor = run.content.at("harness").at("floor");
  if (!floor.is_null()) b.control = number(floor.at("cycles_per_s"));
  b.violations = report::whole_count(run.content.at("verdict").at("violations"));
  return b;
}

std::string value_text(std::string_view metric, double value) {
  if (metric.find("_p") != metric.npos && !metric.ends_with("acquire")) {
    return report::duration_text(std::llround(value));
  }
  if (metric == "throughput") return fmt::format("{}/s", report::rate_text(value));
  if (metric == "success_rate") return report::share_text(std::min(1.0, value));
  return fmt::format("{:.3f}", value);
}

std::string host_fingerprint(const report::recorded_run& run) {
  const json& host = run.content.at("provenance").at("host");
  return fmt::format("{} {} {} {}", host.at("name").dump(), host.at("kernel").dump(),
                     host.at("cpu_model").dump(), host.at("cores").dump());
}

std::string other_job(const report::recorded_run& run, const config::job& job) {
  const auto text = run.content.at("provenance").at("job").get<std::string>();
  const config::job there = config::parse_job(text, fmt::format("job of run {}", run.name));
  const auto mine = config::write_all(config::job_options(), config::redacted(job));
  const auto its = config::write_all(config::job_options(), config::redacted(there));
  for (const auto& [key, value] : its) {
    if (is_measure(key)) continue;
    const auto same = [&key = key](const auto& setting) { return setting.first == key; };
    const auto at = std::ranges::find_if(mine, same);
    const std::string here = at == mine.end() ? "none" : at->second;
    // What the lock naturally does is written out in a run.
    if (key == "workload" && here == "auto") continue;
    if (here != value) return fmt::format("{} is {} there and {} here", key, value, here);
  }
  for (const auto& [key, value] : mine) {
    const auto same = [&key = key](const auto& setting) { return setting.first == key; };
    if (!is_measure(key) && std::ranges::find_if(its, same) == its.end()) {
      return fmt::format("{} is none there and {} here", key, value);
    }
  }
  return "";
}

}  // namespace lockmark::gate
