#include "harness/gate/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/base/errors.hpp"
#include "harness/base/lists.hpp"
#include "harness/config/redaction.hpp"
#include "harness/report/figures.hpp"
#include "harness/report/text.hpp"
#include "harness/stats/confidence.hpp"

namespace lockmark::gate {
namespace {

using json = nlohmann::ordered_json;
using optional_number = std::optional<double>;

constexpr double tolerated_of_counts = 0.005;

optional_number number(const json& n) {
  return n.is_number() ? optional_number(n.get<double>()) : std::nullopt;
}

const report::figure& figure_of(std::string_view metric) {
  const auto all = report::figures();
  return *std::ranges::find_if(all, [&](const auto& f) { return f.gate.name == metric; });
}

// Stand-ins for zero, so that a ratio exists: half an event, or one nanosecond.
double least_of(const report::figure& f, const json& content) {
  if (f.in == report::unit::share) return 0.5 / content.at("samples").get<double>();
  if (f.in == report::unit::rate) return 0.5 / content.at("run").at("window_s").get<double>();
  return 1;
}

optional_number read(std::string_view metric, const report::recorded_run& run,
                     std::string_view who) {
  const report::figure& f = figure_of(metric);
  const report::reading r = report::read_figure(f, run.content);
  if (r.too_few) {
    throw usage_error(
        "{} needs {} attempts a run, and {} had {}; measure longer (--block), or leave it out "
        "(--metrics)",
        metric, stats::samples_needed(f.q), who, *r.too_few);
  }
  if (!r.value) return std::nullopt;
  if (f.gate.counted) return *r.value > 0 ? r.value : std::nullopt;
  const double least = least_of(f, run.content);
  return std::isfinite(least) ? optional_number(std::max(least, *r.value)) : std::nullopt;
}

// Why the metric of a run is only a bound, as a predicate; empty if it was measured.
std::string doubt_of(const metric& m, const report::recorded_run& run) {
  if (m.exact) return "";
  const report::figure& f = figure_of(m.name);
  const report::reading r = report::read_figure(f, run.content);
  if (r.censored) {
    return fmt::format("has only {}: too many of its attempts timed out", report::cell_text(f, r));
  }
  return is_bound(run) ? fmt::format("is only a bound: {}", reasons_of(run)) : "";
}

// True for keys that say how long and how often to measure, not what.
bool is_measure(std::string_view key) {
  constexpr std::array<std::string_view, 4> keys{"warmup", "floor", "seed", "lock"};
  return key.starts_with("stop.") || key.starts_with("options.") ||
         std::ranges::find(keys, key) != keys.end();
}

}  // namespace

std::vector<metric> known_metrics(bool counts_are_exact) {
  std::vector<const report::figure*> figures;
  for (const report::figure& f : report::figures()) {
    if (!f.gate.name.empty()) figures.push_back(&f);
  }
  std::ranges::stable_sort(figures, {}, [](const auto* f) { return f->gate.place; });
  std::vector<metric> all;
  for (const report::figure* f : figures) {
    const bool exact = f->gate.counted && counts_are_exact;
    all.push_back({.name = std::string(f->gate.name),
                   .higher_is_better = f->is == report::better::more,
                   .tolerated = exact ? tolerated_of_counts : f->gate.tolerated,
                   .exact = exact});
  }
  return all;
}

std::string known_metric_names() {
  return joined(known_metrics(true), &metric::name);
}

bool nobody_waits(const config::job& job) {
  const bool alone = job.keys.kind == config::key_choice::shape::own || job.clients_in_all() == 1;
  return alone && !job.renew && job.faults.empty();
}

std::optional<double> value_of(std::string_view metric, const report::recorded_run& run,
                               std::string_view who) {
  return report::from_content(run, [&](const json&) { return read(metric, run, who); });
}

std::vector<metric> measured_by(const std::vector<metric>& wanted, bool by_name,
                                const report::recorded_run& run, std::string_view who) {
  std::vector<metric> all;
  for (const metric& m : wanted) {
    if (value_of(m.name, run, who)) {
      all.push_back(m);
    } else if (by_name) {
      throw usage_error(
          "--metrics: a run of {} has no {}: nothing of the kind happens in this job "
          "with this lock",
          who, m.name);
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
      throw usage_error(
          "{} of {} ({}) cannot be compared: this run has none; leave it out (--metrics)", m.name,
          who, run.name);
    }
    b.values.push_back(*found);
    b.doubts.push_back(doubt_of(m, run));
  }
  const json& floor = run.content.at("harness").at("floor");
  if (!floor.is_null()) b.control = number(floor.at("cycles_per_s"));
  b.violations = report::whole_count(run.content.at("verdict").at("violations"));
  return b;
}

std::string reasons_of(const report::recorded_run& run) {
  const json& all = run.content.at("verdict").at("reasons");
  const auto text = [](const json& reason) { return reason.get<std::string>(); };
  return all.empty() ? "no reason given" : joined(all, text, "; ");
}

bool is_bound(const report::recorded_run& run) {
  return !run.content.at("verdict").at("bound").is_null();
}

std::string value_text(std::string_view metric, double value) {
  const report::figure& f = figure_of(metric);
  return report::value_text(f, f.in == report::unit::share ? std::min(1.0, value) : value, 3);
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
    // A run records the lock's natural workload in place of "auto".
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
