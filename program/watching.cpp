#include "program/watching.hpp"

#include <fmt/core.h>

#include <cstdio>

#include "harness/config/quantity.hpp"
#include "program/execute.hpp"
#include "program/terminal.hpp"

namespace lockmark::cli {
namespace {

// In one write: it may come from another thread, in the middle of a progress bar.
void say(const std::string& sentence) {
  fmt::print(stderr, "{}lockmark: {}\n", screen_of(stderr).in_place ? "\r\033[K" : "", sentence);
}

}  // namespace

void declare_watching(CLI::App& app, watching& w) {
  app.add_option("--metrics", w.metrics,
                 "ADDRESS:PORT: Prometheus may scrape http://ADDRESS:PORT/metrics meanwhile; "
                 ":9464 is every address, port 0 any free one (dashboards/METRICS.md)");
  app.add_option("--push", w.push,
                 "URL of a Pushgateway, http://[user:pass@]host:port: pushed to once a second");
  app.add_option("--metrics-linger", w.linger,
                 "how long the endpoint stays at the end, until it is scraped once more; only "
                 "if it was scraped before")
      ->capture_default_str();
}

std::unique_ptr<metrics::exporter> start_watching(const watching& w) {
  const auto linger = config::parse_duration(w.linger);
  if (!linger) {
    throw usage_error("--metrics-linger: {}", linger.error().sentence);
  }
  if (w.metrics.empty() && w.push.empty()) return nullptr;
  auto exporter =
      std::make_unique<metrics::exporter>(metrics::options{w.metrics, w.push, *linger}, say);
  if (!exporter->url().empty()) say(fmt::format("metrics at {}", exporter->url()));
  return exporter;
}

void end_watching(const metrics::exporter* exporter) {
  if (exporter == nullptr) return;
  std::fflush(stdout);
  exporter->linger(interrupts());
}

}  // namespace lockmark::cli
