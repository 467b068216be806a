// The output that observers see while a run goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drivers/memory/memory.hpp"
#include "harness/run/run_job.hpp"
#include "harness/run/watch.hpp"
#include "workloads/workloads.hpp"

namespace lockmark::run {
namespace {

struct glance {
  double at_s = 0;  // since the window began
  std::uint64_t attempts = 0;
};

// Three seconds of warm-up, then five of measurement.
std::vector<glance> watch_a_run() {
  const lock_kind kind = memory::kinds().front();
  const config::job job = config::parse_job(
      "load: {loop: closed, instances: 2, clients: 1}\nkeys: own\nhold: 10ms\nwait: 1s\n"
      "warmup: 3s\nstop: {duration: 5s, samples: 0}\n",
      "test.yaml");
  const auto behind = kind.make({"memory:", {"test", {"k0", "k1"}}, {}});
  const workload_kind workload = workloads::mutex();
  simulated_clock clock;
  std::vector<glance> seen;
  setup how{.job = job,
            .lock = kind,
            .behind = *behind,
            .workload = workload,
            .run_id = "test",
            .target = "memory:",
            .topology = "memory"};
  how.on_live = [&](const live_view& v) {
    const auto since_ns = static_cast<double>(to_ns(clock.now()) - v.known.window_start_ns);
    seen.push_back({since_ns / 1e9, v.totals.counts.attempts()});
  };
  run_job_simulated(how, clock);
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
