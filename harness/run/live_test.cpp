// The output that observers see while a run goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "drivers/memory/memory.hpp"
#include "harness/run/run_job.hpp"
#include "harness/run/watch.hpp"
#include "workloads/workloads.hpp"

namespace lockmark::run {
namespace {

// What observers of a simulated run on memory/lock see.
void watch_run(const std::string& text,
               const std::function<void(setup&, simulated_clock&)>& observe) {
  const lock_kind kind = memory::kinds().front();
  const config::job job = config::parse_job(text, "test.yaml");
  const auto behind = kind.make({"memory:", {"test", {"k0", "k1"}}, {}});
  const workload_kind workload = workloads::mutex();
  simulated_clock clock;
  setup how{.job = job,
            .lock = kind,
            .behind = *behind,
            .workload = workload,
            .run_id = "test",
            .target = "memory:",
            .topology = "memory"};
  observe(how, clock);
  run_job_simulated(how, clock);
}

struct glance {
  double at_s = 0;  // since the window began
  std::uint64_t attempts = 0;
};

// Three seconds of warm-up, then five of measurement.
std::vector<glance> watch_a_run() {
  std::vector<glance> seen;
  watch_run(
      "load: {loop: closed, instances: 2, clients: 1}\nkeys: own\nhold: 10ms\nwait: 1s\n"
      "warmup: 3s\nstop: {duration: 5s, samples: 0}\n",
      [&seen](setup& how, simulated_clock& clock) {
        how.on_live = [&](const live_view& v) {
          const auto since_ns = static_cast<double>(to_ns(clock.now()) - v.known.window_start_ns);
          seen.push_back({since_ns / 1e9, v.totals.counts.attempts()});
        };
      });
  return seen;
}

// Once a second from the beginning of the window, however long the warm-up.
TEST(live, is_shown_once_a_second) {
  const std::vector<glance> seen = watch_a_run();
  ASSERT_THAT(seen.size(), testing::AllOf(testing::Ge(4u), testing::Le(6u)));
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_NEAR(seen[i].at_s, static_cast<double>(i + 1), 0.3);
    if (i > 0) {
      EXPECT_GT(seen[i].attempts, seen[i - 1].attempts);
    }
  }
}

// Some of twenty clients time out: p99 of all attempts lies beyond, however fast the grants are.
TEST(live, shows_quantiles_of_all_attempts) {
  std::vector<progress> seen;
  watch_run(
      "load: {loop: closed, instances: 1, clients: 20}\nkeys: one\nhold: 10ms\nwait: 150ms\n"
      "warmup: 0s\nstop: {duration: 5s, samples: 0}\n",
      [&seen](setup& how, simulated_clock&) {
        how.on_progress = [&](const progress& p) {
          if (p.has_point) seen.push_back(p);
        };
      });
  ASSERT_GT(seen.size(), 10u);
  for (const progress& p : seen) {
    EXPECT_EQ(p.response_p99, (stats::quantile_ns{150'000'000, true}));
    EXPECT_GT(p.success_rate, 0.1);
  }
}

// Redis lists a command from its first call on. For other counters a missing value is unknown.
TEST(server_counters, grow_from_what_they_were) {
  const server_counters before = {{"commands", 10}, {"cmd.get", 4}, {"reset", 9}};
  const server_counters after = {
      {"commands", 15}, {"cmd.get", 4}, {"cmd.set", 3}, {"new", 7}, {"reset", 1}};
  EXPECT_EQ(grown(before, after),
            (server_counters{{"commands", 5}, {"cmd.get", 0}, {"cmd.set", 3}}));
  EXPECT_EQ(grown({}, after), server_counters{});
}

}  // namespace
}  // namespace lockmark::run
