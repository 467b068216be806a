// The metrics on show: replaced as a whole once a second, readable at any time from any thread.
// Records whether they were scraped.
#pragma once

#include <prometheus/collectable.h>

#include <memory>
#include <mutex>

#include "harness/metrics/families.hpp"

namespace lockmark::metrics {

class published final : public prometheus::Collectable {
 public:
  // Neither waits for readers.
  void show(families now);
  std::shared_ptr<const families> shown() const;

  // A scrape.
  std::vector<prometheus::MetricFamily> Collect() const override;

  bool was_scraped() const;              // at all
  bool was_scraped_since_shown() const;  // the metrics now on show

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const families> now_ = std::make_shared<const families>();
  mutable bool scraped_ = false;
  mutable bool scraped_since_ = false;
};

}  // namespace lockmark::metrics
