// The options that expose a run to Prometheus, for every command that makes runs.
#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <string>

#include "harness/metrics/exporter.hpp"

namespace lockmark::cli {

struct watching {
  std::string metrics;
  std::string push;
  std::string linger = "20s";
};

// Declares --metrics, --push and --metrics-linger. `w` must outlive the parsing.
void declare_watching(CLI::App& app, watching& w);

// From here on the runs can be watched; stderr names the address. Null if not requested. Throws
// usage_error.
std::unique_ptr<metrics::exporter> start_watching(const watching& w);

// After the last run, when everything is printed: waits for a last scrape, if requested. Accepts
// null.
void end_watching(const metrics::exporter* exporter);

}  // namespace lockmark::cli
