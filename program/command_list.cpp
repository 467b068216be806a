#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <ranges>

#include "program/commands.hpp"
#include "program/declare.hpp"

namespace lockmark::cli {
namespace {

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
  j["wait_mode"] = lock.has.has(feature::optimistic)    ? "conflict"
                   : lock.has.has(feature::server_wait) ? "server-side wait"
                                                        : "polling";
  j["safety_class"] = name_of(lock.promises);
  j["algorithm"] = lock.algorithm;
  j["options"] = nlohmann::ordered_json::array();
  for (const lock_option& o : lock.options) {
    j["options"].push_back(
        {{"name", o.name}, {"values", o.values}, {"default", o.preset}, {"help", o.help}});
  }
  return j;
}

void print_text(const catalogue& known) {
  for (const lock_kind& lock : known.locks()) {
    fmt::print("{:<26} {}\n", lock.name, lock.summary);
    fmt::print("{:<26}   runs on: {}; safety: {}; features: {}\n", "", lock.topologies,
               name_of(lock.promises), to_string(lock.has));
    for (const lock_option& o : lock.options) {
      fmt::print("{:<26}   options.{}: {} ({}; default {})\n", "", o.name, o.help, o.values,
                 o.preset);
    }
  }
  fmt::print("\nWorkloads:\n");
  for (const workload_kind& w : known.workloads()) fmt::print("{:<26} {}\n", w.name, w.summary);
}

}  // namespace

command_action list_command(CLI::App& app, const context& c) {
  const auto format = std::make_shared<std::string>("text");
  declare_format(app, *format, "text or json", {"text", "json"});
  return [&known = c.known, format] {
    if (*format == "text") {
      print_text(known);
      return 0;
    }
    auto all = nlohmann::ordered_json::array();
    for (const lock_kind& lock : known.locks()) all.push_back(as_json(lock));
    fmt::print("{}\n", all.dump(2));
    return 0;
  };
}

}  // namespace lockmark::cli
