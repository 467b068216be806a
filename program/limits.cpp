#include "program/limits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/errors.hpp"
#include "program/declare.hpp"

namespace lockmark::cli {

void declare_limits(CLI::App& app, limit_texts& texts) {
  declare_each(app, "--fail", texts.fail, "LIMIT",
               "what must not be: FIGURE, one of > >= < <=, and a value, such as 'p99>20ms', "
               "'success_rate<99.9%' or 'tps<500/s'; where it is, the exit status is 1. May be "
               "given more than once");
  declare_each(app, "--require", texts.require, "LIMIT",
               "the opposite, what must be: 'p99<20ms', 'tps>=500/s'");
}

std::vector<gate::threshold> read_limits(const limit_texts& texts) {
  std::vector<gate::threshold> all;
  for (const bool required : {false, true}) {
    for (const std::string& text : required ? texts.require : texts.fail) {
      const auto limit = gate::parse_threshold(text, required);
      if (!limit) {
        throw usage_error("{}: {}", required ? "--require" : "--fail", limit.error().sentence);
      }
      all.push_back(*limit);
    }
  }
  return all;
}

std::vector<std::string> broken_limits(const std::vector<gate::threshold>& limits,
                                       const report::recorded_run& run) {
  std::vector<std::string> all;
  for (const gate::threshold& limit : limits) {
    if (auto said = gate::broken_by(limit, run)) all.push_back(std::move(*said));
  }
  return all;
}

std::function<bool(const run::live_view&)> watch_limits(std::vector<gate::threshold> limits) {
  if (limits.empty()) return {};
  return [limits = std::move(limits)](const run::live_view& so_far) {
    if (so_far.now != run::phase::measuring) return false;
    return std::ranges::any_of(
        limits, [&](const gate::threshold& limit) { return gate::is_lost(limit, so_far); });
  };
}

}  // namespace lockmark::cli
