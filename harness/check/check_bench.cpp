// The cost of the checks per lock cycle: noting events, merging threads, the exclusion sweep.
#include <benchmark/benchmark.h>

#include "harness/check/exclusion.hpp"
#include "harness/check/handoff.hpp"
#include "harness/check/merge.hpp"

namespace lockmark::check {
namespace {

void note_events(benchmark::State& state) {
  journal j;
  std::int64_t at_ns = 0;
  for (auto _ : state) {
    j.note({++at_ns, 1, 0, 1, event_kind::granted});
    if (at_ns % 4096 == 0) {
      std::vector<event> taken;
      j.publish(at_ns);
      j.collect(taken);
    }
  }
}
BENCHMARK(note_events);

// One grant and one release of an uncontended key.
void exclusion_per_cycle(benchmark::State& state) {
  exclusion x(16);
  std::int64_t at_ns = 0;
  for (auto _ : state) {
    const auto who = static_cast<std::uint32_t>(at_ns) % 16;
    x.granted({++at_ns, 0, who, who, event_kind::granted});
    x.released({++at_ns, 0, who, who, event_kind::released});
  }
}
BENCHMARK(exclusion_per_cycle);

// A million events of one key, as R9 requires: well under two seconds.
void exclusion_of_a_million_events(benchmark::State& state) {
  for (auto _ : state) {
    exclusion x(1);
    for (std::int64_t i = 0; i < 1'000'000; i += 2) {
      const auto who = static_cast<std::uint32_t>(i / 2) % 16;
      x.granted({i, 0, 0, who, event_kind::granted});
      x.released({i + 1, 0, 0, who, event_kind::released});
    }
    benchmark::DoNotOptimize(x.certain());
  }
}
BENCHMARK(exclusion_of_a_million_events)->Unit(benchmark::kMillisecond);

void handoff_per_cycle(benchmark::State& state) {
  handoffs h(1);
  std::int64_t at_ns = 0;
  for (auto _ : state) {
    h.began({++at_ns, 0, 0, 1, event_kind::began});
    benchmark::DoNotOptimize(h.granted({++at_ns, 0, 0, 1, event_kind::granted}));
    h.released({++at_ns, 0, 0, 1, event_kind::released});
    benchmark::ClobberMemory();
  }
}
BENCHMARK(handoff_per_cycle);

// Merges alternating events of two threads into one order.
void merge_two_threads(benchmark::State& state) {
  constexpr std::int64_t events = 4096;
  journal a, b;
  merger m({&a, &b});
  std::int64_t at_ns = 0;
  for (auto _ : state) {
    for (std::int64_t i = 0; i < events; i += 2) {
      a.note({++at_ns, 0, 0, 1, event_kind::granted});
      b.note({++at_ns, 0, 0, 2, event_kind::released});
    }
    a.publish(at_ns);
    b.publish(at_ns);
    m.drain([](event e) { benchmark::DoNotOptimize(e.at_ns); });
  }
  state.SetItemsProcessed(state.iterations() * events);
}
BENCHMARK(merge_two_threads);

}  // namespace
}  // namespace lockmark::check
