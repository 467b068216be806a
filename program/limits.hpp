// --fail and --require: absolute limits on a run, for `run` and `gate`.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "harness/gate/threshold.hpp"

namespace lockmark::cli {

struct limit_texts {
  std::vector<std::string> fail;     // what must not be
  std::vector<std::string> require;  // what must be
};

void declare_limits(CLI::App& app, limit_texts& texts);

// Throws usage_error that begins with the option.
std::vector<gate::threshold> read_limits(const limit_texts& texts);

// A sentence for each limit that a finished run breaks. Throws usage_error if a figure was not
// measured.
std::vector<std::string> broken_limits(const std::vector<gate::threshold>& limits,
                                       const report::recorded_run& run);

// Returns, once a second, whether a limit is certain to be broken; empty without limits.
std::function<bool(const run::live_view&)> watch_limits(std::vector<gate::threshold> limits);

}  // namespace lockmark::cli
