#include "program/table_lines.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "deploy/local/topology.hpp"
#include "harness/base/files.hpp"
#include "harness/base/glob.hpp"
#include "harness/config/settings.hpp"
#include "harness/config/target.hpp"
#include "program/jobs.hpp"
#include "program/resolved_target.hpp"

namespace lockmark::cli {
namespace {

// The scenario of the full table that shows what a lock can do at most, and the shares of that at
// which its waits are shown, too.
constexpr std::string_view own_keys = "uncontended";
constexpr std::array loads{0.3, 0.6, 0.8};

// The scenario of the full table that shows how long a dead holder keeps the others waiting.
constexpr std::string_view a_death = "faults/holder_killed";

// Those of a table for which nobody has named locks.
constexpr std::array<std::string_view, 8> usual_locks{"redis/setnx",
                                                      "redis/set_nx_px",
                                                      "redis/lua",
                                                      "redis/redisson",
                                                      "zookeeper/sequential",
                                                      "mysql/for_update",
                                                      "mysql/optimistic_version",
                                                      "postgres/advisory"};

// Options that change a lock so much that they get a row of their own in the full table.
struct variant {
  std::string_view lock;
  std::string_view option;
};
constexpr std::array variants{
    variant{"redis/set_nx_px", "release=del"},
    variant{"redis/set_nx_px", "release=compare_then_del"},
    variant{"redis/setnx", "grant=exists"},
    variant{"redis/lua", "watchdog=true"},
    variant{"redis/lua", "script=loaded"},
    variant{"zookeeper/sequential", "watch=exists"},
    variant{"zookeeper/write", "hold=downgraded"},
    variant{"zookeeper/write", "hold=downgraded_5.4"},
    variant{"etcd/mutex", "watch_from=next"},
    variant{"mysql/for_update", "wait=nowait"},
    variant{"mysql/for_update", "wait=skip_locked"},
    variant{"mysql/for_update", "indexed=false"},
    variant{"mysql/unique_key", "key=secondary"},
    variant{"mysql/optimistic_version", "first=insert"},
    variant{"mysql/optimistic_update_time", "precision=0"},
    variant{"postgres/advisory", "wait=nowait"},
    variant{"postgres/for_update", "wait=nowait"},
    variant{"postgres/for_update", "wait=skip_locked"},
};

bool wanted(const table_options& g, const lock_kind& lock) {
  if (!g.locks.empty()) return matches_any(g.locks, lock.name);
  if (!g.full) return std::ranges::count(usual_locks, lock.name) > 0;
  return lock.name != "exec/lock" && backend_of(lock.name) != "memory" &&
         backend_of(lock.name) != "faulty";
}

// A quick table needs one server of each kind. TLS is no topology of its own: only on request.
bool wanted(const table_options& g, const std::string& topology) {
  if (!g.topologies.empty()) return matches_any(g.topologies, topology);
  if (!g.targets_file.empty()) return true;
  if (g.full) return !topology.ends_with("-tls");
  return topology.find('-') == std::string::npos;
}

// One whose death the others have to wait for.
bool has_a_holder(const lock_kind& lock) {
  return !lock.has.has(feature::shared) && !lock.has.has(feature::optimistic);
}

// In one process, one loop would decide who of all clients hears first of a release. Real clients
// are processes of their own anyway, and those of a memory lock cannot be. Whoever lays out the
// instances keeps what they say.
bool has_participants(const table_options& g, const table_line& l, std::string_view form) {
  const bool is_laid_out = std::ranges::any_of(g.set, [](const std::string& s) {
    return s.starts_with("load.instances=") || s.starts_with("load.threads=");
  });
  return l.scenario == "contended" && form != "memory" && backend_of(l.lock->name) != "exec" &&
         !is_laid_out;
}

// How long a run takes, for scenarios that nobody has named. A p99 needs 368 samples: a run ends
// with 380, once it has taken so long that its rate does not depend on a moment. Contended, 380
// take two seconds; a client alone has them in 300 ms, but for the slowest locks, and meets nobody
// whose waits settle. So short, the 3,800 runs of a full table take about three hours; how sure
// a row is, its interval says. After a death every session and lease here has ended within 5 s.
std::vector<std::string> lengths_of(const table_line& l) {
  if (l.scenario == a_death) return {"stop.duration=6s", "wait=7s"};
  const bool alone = l.scenario == "one_client";
  const bool is_process = backend_of(l.lock->name) == "exec";  // whose runtime has to warm up
  return {"stop.samples=380",
          alone                    ? "stop.duration=300ms"
          : l.scenario == own_keys ? "stop.duration=500ms"
                                   : "stop.duration=1s",
          l.load > 0 ? "stop.at_most=10s" : "stop.at_most=5s",
          is_process ? "warmup=1s"
          : alone    ? "warmup=100ms"
                     : "warmup=300ms",
          "floor=100ms"};
}

}  // namespace

std::string table_line::title() const {
  const std::string name = scenario.substr(scenario.rfind('/') + 1);
  return load == 0 ? name : fmt::format("{}_{:.0f}", name, 100 * load);
}

// A local server has its own name, others that of their URL, without its login and its query.
named_target named_by_itself(const std::string& text) {
  const auto target = config::parse_target(text);
  if (!target) throw usage_error("--on: {}", target.error().sentence);
  constexpr std::string_view local = "local:";
  if (text.starts_with(local)) return {text.substr(local.size()), text};
  std::string shown = target->redacted();
  shown.erase(std::min(shown.find('?'), shown.size()));
  const auto host = shown.find("://");
  const auto at = shown.rfind('@');
  if (host != shown.npos && at != shown.npos) shown.erase(host + 3, at - host - 2);
  return {shown, text};
}

std::vector<named_target> read_targets(const table_options& g) {
  std::vector<named_target> all;
  if (!g.targets.empty() && !g.targets_file.empty()) {
    throw usage_error("--on and --targets: give one of them");
  }
  if (!g.targets.empty()) {
    for (const std::string& text : g.targets) all.push_back(named_by_itself(text));
  } else if (g.targets_file.empty()) {
    for (const local::topology& t : local::topologies()) {
      all.push_back({t.name, fmt::format("local:{}", t.name)});
    }
  } else {
    if (!std::ifstream(g.targets_file)) {
      throw usage_error("--targets: cannot read {}", g.targets_file);
    }
    const std::string text = readable_text(g.targets_file);
    for (const config::setting& s : config::read_settings(text, g.targets_file)) {
      const auto target = config::parse_target(s.text);
      if (!target) {
        throw usage_error("{}:{}: {}: {}", g.targets_file, s.line, s.key, target.error().sentence);
      }
      all.push_back({s.key, s.text});
    }
  }
  std::erase_if(all, [&](const named_target& t) { return !wanted(g, t.name); });
  if (all.empty()) throw usage_error("--topologies: no target matches");
  return all;
}

std::vector<std::string> scenarios_of(const table_options& g) {
  if (!g.scenarios.empty()) return g.scenarios;
  if (g.full) return {"contended", "one_client", std::string(own_keys), std::string(a_death)};
  return {"contended", "one_client"};
}

std::vector<table_line> lines_on(const catalogue& known, const table_options& g,
                                 std::string_view form) {
  std::vector<table_line> lines;
  for (const std::string& scenario : scenarios_of(g)) {
    const config::job job = find_job(scenario, {"stop.duration=1s"}).job;
    for (const lock_kind& lock : known.locks()) {
      if (!runs_on(lock, form) || !wanted(g, lock)) continue;
      if (job.read_share > 0 && lock.readers.empty()) continue;
      if (!job.faults.empty() && !has_a_holder(lock)) continue;
      lines.push_back({.lock = &lock, .scenario = scenario, .option = ""});
      for (const variant& v : variants) {
        if (g.full && v.lock == lock.name)
          lines.push_back({&lock, scenario, std::string(v.option)});
      }
    }
  }
  if (!g.full || !g.scenarios.empty()) return lines;
  const std::vector<table_line> closed = lines;
  for (const double load : loads) {
    for (table_line l : closed) {
      l.load = load;
      if (l.scenario == own_keys) lines.push_back(std::move(l));
    }
  }
  return lines;
}

std::vector<table_line> lines_of(const catalogue& known, const table_options& g,
                                 std::span<const named_target> targets, const named_target& target,
                                 std::string_view form) {
  std::vector<table_line> lines = lines_on(known, g, form);
  if (!g.scenarios.empty() || !target.is_local()) return lines;
  std::vector<std::string> before;
  for (const named_target& t : targets) {
    if (t.name == target.name) break;
    if (t.is_local()) before.push_back(expected_form(t.target));
  }
  std::erase_if(lines, [&before](const table_line& l) {
    return l.scenario == a_death && std::ranges::any_of(before, [&l](const std::string& earlier) {
             return runs_on(*l.lock, earlier);
           });
  });
  return lines;
}

std::vector<std::string> settings_of(const table_options& g, const table_line& l,
                                     std::string_view form, double per_s) {
  std::vector<std::string> set;
  if (g.scenarios.empty()) set = lengths_of(l);
  if (l.load > 0) {
    set.insert(set.end(), {"load.loop=poisson", fmt::format("load.rate={:.3f}/s", l.load * per_s)});
  }
  if (has_participants(g, l, form)) set.emplace_back("participants=4");
  const auto load = settings_for(std::string(l.scenario), g.load);
  set.insert(set.end(), load.begin(), load.end());
  set.insert(set.end(), g.set.begin(), g.set.end());
  return set;
}

}  // namespace lockmark::cli
