// The options by which a run is shown to Prometheus, for every command that makes runs.
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

// From here on the runs can be watched, and where, stands on stderr. Null where nobody asked for
// it. Throws usage_error.
std::unique_ptr<metrics::exporter> start_watching(const watching& w);

// The last run is over and everything is printed: waits for a last scrape, as asked for. Takes
// null.
void end_watching(const metrics::exporter* exporter);

}  // namespace lockmark::cli
