#include "harness/metrics/published.hpp"

#include <utility>

namespace lockmark::metrics {

void published::show(families now) {
  auto next = std::make_shared<const families>(std::move(now));
  const std::lock_guard guard(mutex_);
  now_.swap(next);  // the old ones are freed after the lock is released
  scraped_since_ = false;
}

std::shared_ptr<const families> published::shown() const {
  const std::lock_guard guard(mutex_);
  return now_;
}

std::vector<prometheus::MetricFamily> published::Collect() const {
  std::shared_ptr<const families> now;
  {
    const std::lock_guard guard(mutex_);
    now = now_;
    scraped_ = scraped_since_ = true;
  }
  return *now;
}

bool published::was_scraped() const {
  const std::lock_guard guard(mutex_);
  return scraped_;
}

bool published::was_scraped_since_shown() const {
  const std::lock_guard guard(mutex_);
  return scraped_since_;
}

}  // namespace lockmark::metrics
