// The harness's cost of one complete, fully recorded lock cycle, and of one of its stamps.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include "drivers/memory/memory.hpp"
#include "harness/run/run_job.hpp"
#include "workloads/workloads.hpp"

namespace lockmark::run {
namespace {

void stamp(benchmark::State& state) {
  const real_clock clock;
  for (auto _ : state) benchmark::DoNotOptimize(clock.now());
}
BENCHMARK(stamp);

// Whole runs on the memory lock, own keys, one load thread: acquire, release, five stamps, four
// histograms, three events, all checks. Reported as time per cycle of the measured window.
void cycle(benchmark::State& state) {
  const lock_kind lock = memory::kinds().front();
  const workload_kind workload = workloads::mutex();
  const real_clock clock;
  for (auto _ : state) {
    const config::job job = config::parse_job(
        fmt::format("load: {{loop: closed, instances: 1, clients: {}, threads: 1}}\n"
                    "keys: own\nwarmup: 100ms\nstop: {{duration: 1s}}\n",
                    state.range(0)),
        "bench.yaml");
    names n{"bench", std::vector<std::string>(job.clients_in_all(), "k")};
    const auto behind = lock.make({"memory:", n, {}});
    const setup s{.job = job,
                  .lock = lock,
                  .behind = *behind,
                  .workload = workload,
                  .run_id = "bench",
                  .target = "memory:",
                  .topology = "memory"};
    const result r = run_job(s, clock);
    state.SetIterationTime(1 / r.tps());
  }
}
BENCHMARK(cycle)->Arg(16)->Arg(1000)->UseManualTime()->Iterations(3);

}  // namespace
}  // namespace lockmark::run
