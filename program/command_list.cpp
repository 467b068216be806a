#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ranges>

#include "harness/base/glob.hpp"
#include "program/commands.hpp"
#include "program/declare.hpp"
#include "program/resolved_target.hpp"

namespace lockmark::cli {
namespace {

struct list_options {
  std::vector<std::string> locks;  // globs; empty: all
  std::string on;                  // a topology or a target; empty: all
  std::string format = "text";
};

void check_names(const catalogue& known, const list_options& g) {
  for (const std::string& name : g.locks) {
    const auto is_one = [&](const lock_kind& lock) { return matches_any(name, lock.name); };
    if (std::ranges::none_of(known.locks(), is_one)) known.lock(name);  // throws
  }
}

std::vector<const lock_kind*> wanted(const catalogue& known, const list_options& g) {
  check_names(known, g);
  const bool is_target = g.on.find(':') != g.on.npos;
  const std::string form = is_target ? expected_form(g.on) : g.on;
  std::vector<const lock_kind*> all;
  for (const lock_kind& lock : known.locks()) {
    if (!g.locks.empty() && !matches_any(g.locks, lock.name)) continue;
    if (form.empty() || runs_on(lock, form)) all.push_back(&lock);
  }
  if (!all.empty()) return all;
  throw usage_error("--on: no such lock runs on \"{}\"; lockmark list shows what each runs on",
                    g.on);
}

std::string_view waiting_of(const lock_kind& lock) {
  if (lock.has.has(feature::optimistic)) return "conflict";
  return lock.has.has(feature::server_wait) ? "server-side wait" : "polling";
}

nlohmann::ordered_json as_json(const lock_kind& lock) {
  nlohmann::ordered_json j;
  j["lock"] = lock.name;
  j["summary"] = lock.summary;
  j["topologies"] = nlohmann::ordered_json::array();
  for (const auto name : lock.topologies | std::views::split(' ')) {
    j["topologies"].push_back(std::string_view(name.begin(), name.end()));
  }
  j["features"] = nlohmann::ordered_json::array();
  for (const auto& [bit, name] : feature_names) {
    if (lock.has.has(bit)) j["features"].push_back(name);
  }
  j["wait_mode"] = waiting_of(lock);
  j["safety_class"] = name_of(lock.promises);
  j["algorithm"] = lock.algorithm;
  if (lock.cost.commands > 0) {
    j["commands"] = lock.cost.commands;
    j["round_trips"] = lock.cost.round_trips;
  }
  j["options"] = nlohmann::ordered_json::array();
  for (const lock_option& o : lock.options) {
    j["options"].push_back(
        {{"name", o.name}, {"values", o.values}, {"default", o.preset}, {"help", o.help}});
  }
  return j;
}

void print_json(const std::vector<const lock_kind*>& locks) {
  auto all = nlohmann::ordered_json::array();
  for (const lock_kind* lock : locks) all.push_back(as_json(*lock));
  fmt::print("{}\n", all.dump(2));
}

// docs/choose-a-lock.md has it.
void print_markdown(const std::vector<const lock_kind*>& locks) {
  fmt::print(
      "| lock | waiting | safety | lease | session-bound | fencing token | fair | reentrant | "
      "shared | commands (round trips) | speaks the protocol of |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const lock_kind* lock : locks) {
    const auto mark = [&](feature f) { return lock->has.has(f) ? "x" : ""; };
    const std::string_view lease = lock->has.has(feature::renewable) ? "renewable"
                                   : lock->has.has(feature::lease)   ? "fixed"
                                                                     : "";
    const std::string cost = lock->cost.commands == 0 ? ""
                                                      : fmt::format("{} ({})", lock->cost.commands,
                                                                    lock->cost.round_trips);
    fmt::print("| `{}` | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", lock->name,
               waiting_of(*lock), name_of(lock->promises), lease, mark(feature::session_bound),
               mark(feature::fencing_token), mark(feature::fair), mark(feature::reentrant),
               mark(feature::shared), cost, lock->algorithm);
  }
}

void print_text(const std::vector<const lock_kind*>& locks) {
  for (const lock_kind* lock : locks) {
    fmt::print("{:<26} {}\n", lock->name, lock->summary);
    fmt::print("{:<26}   runs on: {}; safety: {}; features: {}\n", "", lock->topologies,
               name_of(lock->promises), to_string(lock->has));
    if (lock->cost.commands > 0) {
      fmt::print("{:<26}   costs {} commands in {} round trips\n", "", lock->cost.commands,
                 lock->cost.round_trips);
    }
    for (const lock_option& o : lock->options) {
      fmt::print("{:<26}   options.{}: {} ({}; default {})\n", "", o.name, o.help, o.values,
                 o.preset);
    }
  }
}

}  // namespace

command_action list_command(CLI::App& app, const context& c) {
  const auto g = std::make_shared<list_options>();
  app.add_option("locks", g->locks, "only these, as 'redis/*'; default: all");
  declare(app, "--on", g->on, "TARGET",
          "only those that run there: a topology, as redis-cluster, or a target");
  declare_format(app, g->format, "text, json or md", {"text", "json", "md"});
  return [&known = c.known, g] {
    const auto locks = wanted(known, *g);
    if (g->format == "json") {
      print_json(locks);
    } else if (g->format == "md") {
      print_markdown(locks);
    } else {
      print_text(locks);
      if (locks.size() < known.locks().size()) return 0;
      fmt::print("\nWorkloads:\n");
      for (const workload_kind& w : known.workloads()) fmt::print("{:<26} {}\n", w.name, w.summary);
    }
    return 0;
  };
}

}  // namespace lockmark::cli
