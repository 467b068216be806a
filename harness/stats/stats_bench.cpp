// The cost of the statistics per operation, and per interval. Run it from the release build.

#include <benchmark/benchmark.h>

#include <vector>

#include "harness/stats/confidence.hpp"
#include "harness/stats/fairness.hpp"
#include "harness/stats/hdr_encoding.hpp"
#include "harness/stats/random.hpp"

namespace lockmark::stats {
namespace {

std::vector<std::int64_t> latencies(std::size_t n) {
  random_source rng(1);
  std::vector<std::int64_t> values(n);
  for (auto& value : values) value = static_cast<std::int64_t>(rng.lognormal(13, 1));
  return values;
}

histogram sample(int digits, std::size_t n) {
  histogram h(digits);
  for (std::int64_t value : latencies(n)) h.record(value);
  return h;
}

void record(benchmark::State& state) {
  const auto values = latencies(4'096);
  histogram h(static_cast<int>(state.range(0)));
  std::size_t i = 0;
  for (auto _ : state) h.record(values[i++ & 4'095]);
  benchmark::DoNotOptimize(h.count());
}
BENCHMARK(record)->Arg(2)->Arg(3);

void merge(benchmark::State& state) {
  const histogram source = sample(3, 10'000);
  histogram target(3);
  for (auto _ : state) target.merge(source);
  benchmark::DoNotOptimize(target.count());
}
BENCHMARK(merge);

void quantile(benchmark::State& state) {
  const histogram source = sample(3, 10'000);
  for (auto _ : state) benchmark::DoNotOptimize(source.value_at_quantile(0.99));
}
BENCHMARK(quantile);

void encode(benchmark::State& state) {
  const histogram source = sample(3, 10'000);
  for (auto _ : state) benchmark::DoNotOptimize(encode_base64(source));
}
BENCHMARK(encode);

void decode(benchmark::State& state) {
  const std::string text = encode_base64(sample(3, 10'000));
  for (auto _ : state) benchmark::DoNotOptimize(decode_base64(text));
}
BENCHMARK(decode);

void fairness_own_key(benchmark::State& state) {
  fairness_totals totals;
  key_fairness key(1);
  std::int64_t now_ns = 0;
  for (auto _ : state) {
    key.grant(totals, 7, now_ns, now_ns + 100);
    now_ns += 200;
  }
  benchmark::DoNotOptimize(totals.longest_wait_ns());
}
BENCHMARK(fairness_own_key);

// A lottery between clients that invoke again at once: every grant overtakes others.
void fairness_contended(benchmark::State& state) {
  const auto clients = static_cast<std::uint32_t>(state.range(0));
  random_source rng(1);
  std::vector<std::uint8_t> winners(65'536);
  for (auto& winner : winners) winner = static_cast<std::uint8_t>(rng.below(clients));
  std::vector<std::int64_t> invoked(clients, 0);
  fairness_totals totals;
  key_fairness key(clients);
  std::int64_t now_ns = 0;
  for (auto _ : state) {
    const std::uint8_t client = winners[static_cast<std::size_t>(now_ns) & 65'535];
    key.grant(totals, client, invoked[client], now_ns);
    invoked[client] = ++now_ns;
  }
  benchmark::DoNotOptimize(totals.longest_wait_ns());
}
BENCHMARK(fairness_contended)->Arg(2)->Arg(16)->Arg(128);

// 60 intervals of 10,000 attempts, 1,000 resamples, three quantiles.
void bootstrap(benchmark::State& state) {
  random_source rng(1);
  interval_bootstrap series;
  for (int i = 0; i < 60; ++i) {
    histogram interval;
    for (int k = 0; k < 10'000; ++k) {
      interval.record(static_cast<std::int64_t>(rng.lognormal(13, 1)));
    }
    series.add(interval, 0);
  }
  const double quantiles[] = {0.5, 0.99, 0.999};
  for (auto _ : state) benchmark::DoNotOptimize(series.intervals(quantiles, 0, 1));
}
BENCHMARK(bootstrap)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lockmark::stats
