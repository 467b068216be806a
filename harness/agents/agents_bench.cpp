// How many events a second one coordinator takes: 200 agents' reports, from their bytes to the
// checks. No network; the cycles are those of contended clients, each event of a key that several
// hosts want.
#include <benchmark/benchmark.h>
#include <fmt/core.h>
#include <sys/resource.h>

#include "drivers/memory/memory.hpp"
#include "harness/agents/agent_link.hpp"
#include "harness/agents/agent_worker_pool.hpp"
#include "harness/agents/event_codec.hpp"
#include "harness/run/collector.hpp"
#include "workloads/workloads.hpp"

namespace lockmark::agents {
namespace {

constexpr std::uint32_t agents = 200;
constexpr std::int64_t report_ns = 20'000'000;
constexpr int cycles_in_report = 50;  // of each agent

// Agents whose clocks are known, with one participant of one client each.
class coordinator_alone {
 public:
  coordinator_alone() : job_(job()), lock_(memory::kinds().front()), workload_(workloads::mutex()) {
    std::vector<agent_link*> all;
    for (std::uint32_t n = 0; n < agents; ++n) {
      links_.push_back(std::make_unique<agent_link>(
          clock_, host_facts{fmt::format("a{}", n), "", 2}, fmt::format("{}", n)));
      links_.back()->learn({.sent_ns = 0, .received_ns = 10, .answered_ns = 20, .heard_ns = 30});
      connections_.push_back(links_.back()->connect(0));
      all.push_back(links_.back().get());
    }
    const run::process_pool_setup who{.job = job_,
                                      .lock = lock_,
                                      .workload = workload_,
                                      .options = {},
                                      .run_id = "bench",
                                      .target_of = [](std::uint32_t) { return "memory:"; }};
    pool_ = std::make_unique<agent_worker_pool>(clock_, all, who, 1, [](const std::string&) {});
    run::history_checker::shape shape;
    shape.keys = 10;
    shape.clients = shape.competitors = agents;
    shape.clocks = pool_->clocks();
    collector_ = std::make_unique<run::collector>(*pool_, shape, pool_->measured(), nullptr);
    pool_->measured().start_ns = 0;
  }

  // One report of each agent, as bytes: cycles on keys that other agents want at the same time.
  std::vector<std::string> next_reports() {
    std::vector<std::string> all;
    ++reports_;
    for (std::uint32_t n = 0; n < agents; ++n) {
      wire::FromAgent message;
      message.set_number(reports_);
      wire::Report r;
      r.set_run(1);
      wire::ParticipantReport& p = *r.add_participants();
      p.set_number(n);
      p.set_state(wire::ParticipantReport::READY);
      add_cycles(n, *p.mutable_events());
      p.set_complete_until_ns(at_ns_ + report_ns);
      message.set_report(r.SerializeAsString());
      all.push_back(message.SerializeAsString());
    }
    at_ns_ += report_ns;
    return all;
  }

  void take(const std::vector<std::string>& reports) {
    for (std::uint32_t n = 0; n < agents; ++n) {
      wire::FromAgent message;
      message.ParseFromString(reports[n]);
      links_[n]->take(connections_[n], message);
    }
    collector_->collect();
  }

  std::uint64_t transfers() { return collector_->history().transfers_so_far(); }
  std::uint64_t violations() { return collector_->history().violations_so_far(); }

 private:
  static config::job job() {
    config::job j = config::default_job();
    j.instances = j.participants = agents;
    j.clients = 1;
    j.keys = *config::parse_key_choice("uniform(10)");
    return j;
  }

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

  const real_clock clock_;
  const config::job job_;
  const lock_kind lock_;
  const workload_kind workload_;
  std::vector<std::unique_ptr<agent_link>> links_;
  std::vector<std::uint64_t> connections_;
  std::unique_ptr<agent_worker_pool> pool_;
  std::unique_ptr<run::collector> collector_;
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
