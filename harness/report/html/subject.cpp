#include "harness/report/html/subject.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace lockmark::report::html {
namespace {

namespace fs = std::filesystem;

// A file of the folder, or a killed run's file under its temporary name.
std::ifstream open_in(const fs::path& folder, const std::string& name) {
  std::ifstream file(folder / name, std::ios::binary);
  if (!file) file = std::ifstream(folder / (name + ".part"), std::ios::binary);
  return file;
}

// Without a timeline: stretches of equal length, with nothing but their times.
std::vector<double> even_edges(double window_s, std::size_t stretches) {
  std::vector<double> edges;
  if (!(window_s > 0)) return edges;
  for (std::size_t i = 0; i <= stretches; ++i) {
    edges.push_back(window_s * static_cast<double>(i) / static_cast<double>(stretches));
  }
  return edges;
}

// Response or service of all attempts: from the log, else the few quantiles of run.json.
curve acquire_curve(const subject& s, const char* which, const stats::histogram& granted) {
  const bool bound = s.in_table.bound;
  if (granted.empty()) {
    return curve_of_summary(which, s.at({"quantiles", which, "quantiles"}), bound);
  }
  const auto wait_ns = static_cast<std::int64_t>(count_of(s.at({"run", "wait_ns"})));
  return curve_of(which, {granted, s.not_granted(), wait_ns}, bound);
}

// The histograms are large and end here: a page may have hundreds of runs.
void keep(latency found, subject& s) {
  s.response = acquire_curve(s, "response", found.response);
  s.service = acquire_curve(s, "service", found.service);
  s.timer_lag = curve_of("harness timer lag", {found.timer_lag, 0, 0}, false);
  s.moments = std::move(found.moments);
}

void read_timeline_of(const fs::path& folder, std::size_t stretches, subject& s) {
  std::string damage;
  std::ifstream timeline = open_in(folder, "timeline.jsonl");
  if (timeline) s.stretches = joined(read_timeline(timeline, damage), stretches);
  if (!timeline.is_open()) s.notes.push_back("timeline.jsonl is missing: no rates over time.");
  if (!damage.empty()) s.notes.push_back(fmt::format("timeline.jsonl is damaged: {}.", damage));
  s.edges_s = edges_of(s.stretches);
  if (s.edges_s.empty()) s.edges_s = even_edges(real_of(s.at({"run", "window_s"})), stretches);
}

void read_latency_of(const fs::path& folder, subject& s) {
  std::ifstream log = open_in(folder, "latency.hlog");
  std::string damage;
  latency found;
  if (log) {
    found = read_latency(log, s.edges_s, damage);
  } else {
    s.notes.push_back("latency.hlog is missing: quantiles are those of run.json.");
  }
  keep(std::move(found), s);
  if (!damage.empty()) {
    s.notes.push_back(
        fmt::format("latency.hlog is damaged, what follows is left out: {}.", damage));
  }
}

std::string options_of(const row& r) {
  const auto at = r.implementation.rfind(" [");
  return at == std::string::npos ? "" : r.implementation.substr(at);
}

// As lockmark prints it: two levels, a line each.
std::vector<std::string> settings_in(const fs::path& folder) {
  std::vector<std::string> all;
  std::ifstream job = open_in(folder, "job.yaml");
  std::string above;
  for (std::string line; std::getline(job, line);) {
    if (line.ends_with(':')) {
      above = line.substr(0, line.size() - 1) + '.';
    } else if (line.starts_with("  ")) {
      all.push_back(above + line.substr(2));
    } else if (!line.starts_with("seed: ")) {
      all.push_back(line);
    }
  }
  return all;
}

std::string plain_name(const row& r) {
  return r.topology.empty() ? r.lock : fmt::format("{} on {}", r.lock, r.topology);
}

// Runs that would be named alike, and how many of them have each setting.
struct namesakes {
  std::size_t runs = 0;  // whose settings are known
  std::map<std::string, std::size_t> with;
};
using all_namesakes = std::map<std::pair<std::string, std::string>, namesakes>;

std::pair<std::string, std::string> scenario_and_name(const subject& s) {
  return {s.in_table.scenario, plain_name(s.in_table)};
}

all_namesakes namesakes_among(const std::vector<subject>& subjects) {
  all_namesakes all;
  for (const subject& s : subjects) {
    if (s.settings.empty()) continue;
    namesakes& alike = all[scenario_and_name(s)];
    ++alike.runs;
    for (const auto& setting : std::set(s.settings.begin(), s.settings.end())) {
      ++alike.with[setting];
    }
  }
  return all;
}

// ", holder: careful": what not all of its namesakes have set; if that is short.
std::string differing_settings(const subject& s, const all_namesakes& all) {
  if (s.settings.empty()) return "";
  const namesakes& alike = all.at(scenario_and_name(s));
  std::string text;
  int count = 0;
  for (const std::string& setting : s.settings) {
    const bool is_said = setting.starts_with("options.") || setting.starts_with("faults.");
    if (is_said || alike.with.at(setting) == alike.runs) continue;
    text += ", " + setting;
    ++count;
  }
  return count <= 3 ? text : "";
}

// Longer and longer names, until no other run of the page has the same.
std::vector<std::string> names_of(const subject& s, const all_namesakes& all) {
  const row& r = s.in_table;
  std::vector<std::string> names;
  names.push_back(plain_name(r));
  names.push_back(names.back() + options_of(r));
  names.push_back(names.back() + differing_settings(s, all));
  names.push_back(fmt::format("{}, {}", names.back(), r.run));
  names.push_back(fmt::format("{} ({})", names.back(), s.id));
  return names;
}

}  // namespace

std::int64_t subject::not_granted() const {
  if (in_table.samples() > 0) {
    return static_cast<std::int64_t>(count_of(at({"quantiles", "response", "not_granted"})));
  }
  std::uint64_t sum = 0;
  for (const stretch& s : stretches) sum += s.not_granted();
  return static_cast<std::int64_t>(sum);
}

subject read_subject(const fs::path& path, std::size_t stretches) {
  subject s;
  s.run = read_run(path);
  s.in_table = row_of(s.run);
  const fs::path folder = fs::is_directory(path) ? path : path.parent_path();
  s.settings = settings_in(folder);
  read_timeline_of(folder, stretches, s);
  read_latency_of(folder, s);
  return s;
}

void name_apart(std::vector<subject>& subjects) {
  using place = std::tuple<std::string, std::size_t, std::string>;  // scenario, how long, name
  const all_namesakes all = namesakes_among(subjects);
  std::map<place, int> times;
  std::vector<std::vector<std::string>> names;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    subject& s = subjects[i];
    s.id = fmt::format("r{}", i);
    names.push_back(names_of(s, all));
    for (std::size_t n = 0; n < names[i].size(); ++n) {
      ++times[{s.in_table.scenario, n, names[i][n]}];
    }
  }
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    subject& s = subjects[i];
    std::size_t n = 0;
    while (n + 1 < names[i].size() && times[{s.in_table.scenario, n, names[i][n]}] > 1) ++n;
    s.label = names[i][n];
  }
}

std::string verdict_of(const subject& s) {
  const json& held = s.at({"verdict", "held"});
  if (s.in_table.untested) return "untested";
  if (!held.is_boolean()) return "unknown";
  return held.get<bool>() ? "held" : "broken";
}

std::string held_word(const subject& s) {
  const std::string verdict = verdict_of(s);
  return verdict == "broken" ? "NOT HELD" : verdict == "untested" ? "not tested" : verdict;
}

std::string figures_word(const subject& s) {
  if (!s.in_table.complete) return "incomplete";
  if (!s.in_table.valid) return "INVALID";
  return s.in_table.bound ? "bound" : "valid";
}

std::string state_of(const subject& s) {
  if (verdict_of(s) == "broken") return "broken";
  if (!s.in_table.valid) return "invalid";
  return s.in_table.bound ? "bound" : "";
}

}  // namespace lockmark::report::html
