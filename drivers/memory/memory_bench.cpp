// The cost of an uncontended acquire and release, including their two coroutine frames.
#include <benchmark/benchmark.h>

#include "drivers/memory/memory.hpp"
#include "harness/async/scope.hpp"

namespace lockmark {
namespace {

task<void> cycles(loop& l, driver& d, benchmark::State& state) {
  const instance who{.id = "only"};
  const auto s = co_await d.open(l, who, l.now() + std::chrono::seconds{1});
  const request r{.lease = std::chrono::hours{1}, .deadline = time_point::max()};
  for (auto _ : state) {
    auto got = co_await s->acquire(r);
    benchmark::DoNotOptimize(got);
    auto gone = co_await s->release(r);
    benchmark::DoNotOptimize(gone);
  }
  co_await s->close();
}

void acquire_and_release(benchmark::State& state) {
  const auto kinds = memory::kinds();
  const lock_kind& kind = kinds[static_cast<std::size_t>(state.range(0))];
  const auto d = kind.make({.target = "memory:", .run_names = {"bench", {"a"}}, .options = {}});
  const real_clock clock;
  loop l{clock};
  run_to_end(l, cycles(l, *d, state));
  state.SetLabel(std::string{kind.name});
}
BENCHMARK(acquire_and_release)->DenseRange(0, 2);

}  // namespace
}  // namespace lockmark
