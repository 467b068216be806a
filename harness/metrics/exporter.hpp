// Shows runs in progress to Prometheus: by an endpoint that is scraped, by pushing to a
// Pushgateway, or both. Measures nothing.
//
// begin() -> known() -> update() once a second -> end() or forget(), for one run after the other,
// on one thread. None of them waits for a scraper or a gateway.
#pragma once

#include <prometheus/exposer.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "harness/metrics/pusher.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::metrics {

struct options {
  std::string listen;    // --metrics, as parse_listen reads it; empty: no endpoint
  std::string push_url;  // --push, as parse_gateway reads it; empty: nothing is pushed
  duration linger{};     // how long the endpoint waits for a last scrape
};

class exporter {
 public:
  // The endpoint replies from now on. Throws usage_error.
  exporter(const options& o, sentence_sink say);
  // Closes the endpoint, and pushes a last time.
  ~exporter();
  exporter(const exporter&) = delete;
  exporter& operator=(const exporter&) = delete;

  // "http://127.0.0.1:9464/metrics", with the port in use; empty without an endpoint.
  const std::string& url() const { return url_; }

  // A run is about to begin, or its window has just begun. Replaces the series of the last run.
  void begin(const run::result& known);
  void update(const run::live_view& v);
  // The run is over, with these final figures.
  void end(const run::result& r);
  // The run ended without a result.
  void forget();

  // Waits until the final figures have been scraped, for a limited time or until an interrupt. Does
  // not wait if nothing has scraped so far.
  void linger(const std::atomic<int>& interrupts) const;

 private:
  void listen(const std::string& where);

  duration linger_;
  sentence_sink say_;
  std::string url_;
  std::shared_ptr<published> published_ = std::make_shared<published>();
  std::optional<prometheus::Exposer> endpoint_;
  std::optional<pusher> pusher_;
};

}  // namespace lockmark::metrics
