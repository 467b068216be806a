// The cost of one second of being watched: one view, and one page per scraper.
#include <benchmark/benchmark.h>
#include <prometheus/text_serializer.h>

#include "harness/metrics/published.hpp"
#include "harness/run/sample_result.hpp"

namespace lockmark::metrics {
namespace {

// Durations from 1 us to 2 s in every histogram, as in a busy run.
run::result busy_result() {
  run::sample_run sample;
  for (std::int64_t ns = 1'000; ns < 2'000'000'000; ns += ns / 300) {
    for (stats::histogram& h : sample.r.totals.durations) h.record(ns);
    sample.r.found.transfer.record(ns);
    sample.r.found.self_reacquire.record(ns);
  }
  return std::move(sample.r);
}

void show_a_view(benchmark::State& state) {
  const run::result r = busy_result();
  run::live_view v{.known = r, .totals = r.totals, .found = r.found, .server = r.server};
  v.now = run::phase::measuring;
  published b;
  for (auto _ : state) b.show(of_view(v, r.window_start_ns));
}
BENCHMARK(show_a_view);

void answer_a_scrape(benchmark::State& state) {
  published b;
  b.show(of_result(busy_result()));
  for (auto _ : state) {
    benchmark::DoNotOptimize(prometheus::TextSerializer().Serialize(b.Collect()));
  }
}
BENCHMARK(answer_a_scrape);

}  // namespace
}  // namespace lockmark::metrics
