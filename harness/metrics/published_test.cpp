// Scrapes while a run is in progress. Run under TSan, because nothing else detects a missing lock.
#include "harness/metrics/published.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "harness/metrics/test_scrape.hpp"
#include "harness/run/sample_result.hpp"

namespace lockmark::metrics {
namespace {

// Each page is of one moment: two metrics of the same quantity agree.
TEST(published, is_read_while_it_changes) {
  run::sample_run sample;
  run::result& r = sample.r;
  r.totals = run::interval();
  published b;
  b.show(of_known(r));
  std::atomic<bool> over{false};
  int pages = 0;
  std::thread reader([&] {
    for (bool last = false; !last; ++pages) {
      last = over;
      const scrape page(text_of(b.Collect()));
      const double granted = page.value("lockmark_attempts_total", {{"outcome", "granted"}});
      EXPECT_EQ(page.value("lockmark_hold_duration_seconds_count"), granted);
    }
  });
  for (int i = 0; i < 100; ++i) {
    ++r.totals.counts[run::counter::granted];
    r.totals[run::series::hold].record(1'000'000);
    b.show(of_result(r));
  }
  over = true;
  reader.join();
  EXPECT_GT(pages, 0);
  EXPECT_TRUE(b.was_scraped_since_shown());
}

}  // namespace
}  // namespace lockmark::metrics
