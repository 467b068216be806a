// --fail: absolute limits of a run, as `run` and `gate` take them.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "harness/gate/threshold.hpp"

namespace lockmark::cli {

void declare_limits(CLI::App& app, std::vector<std::string>& texts);

// Throws usage_error that begins with "--fail".
std::vector<gate::threshold> read_limits(const std::vector<std::string>& texts);

// Of a run that has ended, a sentence for each limit that it breaks. Throws usage_error where a
// figure was not measured.
std::vector<std::string> broken_limits(const std::vector<gate::threshold>& limits,
                                       const report::recorded_run& run);

// What says, once a second, whether one of them is lost beyond doubt; empty without limits.
std::function<bool(const run::live_view&)> watch_limits(std::vector<gate::threshold> limits);

}  // namespace lockmark::cli
