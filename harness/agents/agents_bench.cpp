// How many events a second one coordinator takes: 200 agents' reports, from their bytes to the
// checks. No network; the cycles are those of contended clients, each event of a key that several
// hosts want.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "drivers/memory/memory.hpp"
#include "harness/agents/event_codec.hpp"
#include "harness/agents/test_simulated_agents.hpp"
#include "workloads/workloads.hpp"

namespace lockmark::agents {
namespace {

constexpr std::uint32_t agents = 200;
constexpr std::int64_t report_ns = 20'000'000;
constexpr int cycles_in_report = 50;  // of each agent

class coordinator_alone {
 public:
  // One report of each agent, as bytes: cycles on keys that other agents want at the same time.
  std::vector<std::string> next_reports() {
    std::vector<std::string> all;
    ++reports_;
    for (std::uint32_t n = 0; n < agents; ++n) {
      wire::ParticipantReport p;
      p.set_number(n);
      p.set_state(wire::ParticipantReport::READY);
      add_cycles(n, *p.mutable_events());
      p.set_complete_until_ns(at_ns_ + report_ns);
      all.push_back(simulated_agents::as_bytes(reports_, std::move(p)));
    }
    at_ns_ += report_ns;
    return all;
  }

  void take(const std::vector<std::string>& reports) {
    for (std::uint32_t n = 0; n < agents; ++n) all_.take(n, reports[n]);
    all_.collector().collect();
  }

  std::uint64_t transfers() { return all_.collector().history().transfers_so_far(); }
  std::uint64_t violations() { return all_.collector().history().violations_so_far(); }

 private:
  // Began, granted and released: each agent in turn, so that holds of a key do not overlap.
  void add_cycles(std::uint32_t client, wire::Events& to) const {
    using enum check::event_kind;
    constexpr std::int64_t slot_ns = report_ns / (agents * cycles_in_report);
    std::vector<check::event> events;
    for (int i = 0; i < cycles_in_report; ++i) {
      const std::int64_t at_ns = at_ns_ + (i * static_cast<int>(agents) + client) * slot_ns;
      const auto key = (client + static_cast<std::uint32_t>(i)) % 10;
      events.push_back({.at_ns = at_ns, .key = key, .client = client, .kind = began});
      events.push_back({.at_ns = at_ns + 500, .key = key, .client = client, .kind = granted});
      events.push_back(
          {.at_ns = at_ns + 1'500, .key = key, .client = client, .kind = released, .lasted = true});
    }
    append(events, to);
  }

  simulated_agents all_{memory::kinds().front(), workloads::mutex(), agents, 10, 0};
  std::uint64_t reports_ = 0;
  std::int64_t at_ns_ = 1'000'000'000;
};

void events_of_200_agents(benchmark::State& state) {
  coordinator_alone c;
  for (auto _ : state) {
    state.PauseTiming();
    const auto reports = c.next_reports();
    state.ResumeTiming();
    c.take(reports);
  }
  // Each grant but the first of a key goes from one host to another.
  const auto grants = static_cast<std::uint64_t>(state.iterations()) * agents * cycles_in_report;
  if (c.transfers() < grants * 9 / 10 || c.violations() != 0) {
    state.SkipWithError("the checks did not see the events");
  }
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  state.SetItemsProcessed(state.iterations() * agents * cycles_in_report * 3);
  state.counters["max_MB"] = static_cast<double>(used.ru_maxrss) / 1024;
}
BENCHMARK(events_of_200_agents)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lockmark::agents
