// What three hosts measured, merged by their coordinator, is what one place would have measured:
// the same histograms bucket by bucket, the same counts.
#include <gtest/gtest.h>

#include "drivers/memory/memory.hpp"
#include "harness/agents/test_simulated_agents.hpp"
#include "harness/run/participants/interval_codec.hpp"
#include "harness/stats/random.hpp"
#include "workloads/workloads.hpp"

namespace lockmark::agents {
namespace {

using run::counter;
using run::series;

constexpr std::uint32_t merged_hosts = 3;
constexpr std::int64_t tenth_ns = 100'000'000;

// An interval of the host, by its own clock, as a report.
void report(simulated_agents& hosts, std::uint32_t host, std::uint64_t number, run::interval i) {
  i.start_ns += hosts.ahead_of(host);
  i.end_ns += hosts.ahead_of(host);
  wire::ParticipantReport p;
  p.set_number(host);
  p.set_state(wire::ParticipantReport::READY);
  p.set_complete_until_ns(i.end_ns);
  p.add_intervals(run::encode(i));
  ASSERT_TRUE(hosts.take(host, simulated_agents::as_bytes(number, std::move(p))));
}

TEST(merging, is_what_one_place_would_have_measured) {
  simulated_agents cluster(memory::kinds().front(), workloads::mutex(), merged_hosts, 1,
                           1'000'000'000'000);
  run::interval all;
  stats::random_source random(17);
  std::uint64_t granted = 0;
  for (std::uint32_t tenth = 0; tenth < 20; ++tenth) {
    for (std::uint32_t host = 0; host < merged_hosts; ++host) {
      run::interval i;
      i.start_ns = tenth * tenth_ns;
      i.end_ns = i.start_ns + tenth_ns;
      // From 100 ns to minutes, and not alike on the hosts.
      for (std::uint64_t n = random.below(200); n > 0; --n) {
        const auto ns = static_cast<std::int64_t>(100ULL << random.below(20 + 5 * host));
        const auto more = static_cast<std::int64_t>(random.below(1'000));
        i[series::response].record(ns + more);
        i[series::service].record(ns);
        ++i.counts[counter::granted];
        ++granted;
      }
      i.counts[counter::refused_deadline] += host;
      all.merge(i);
      report(cluster, host, tenth + 1, i);
    }
  }
  // The last interval waits for those that may still come.
  for (std::uint32_t host = 0; host < merged_hosts; ++host) {
    run::interval last;
    last.start_ns = 20 * tenth_ns;
    last.end_ns = last.start_ns + tenth_ns;
    report(cluster, host, 21, last);
  }
  cluster.collector().collect();
  const run::interval& merged = cluster.collector().totals();
  ASSERT_GT(granted, 2'000U);
  EXPECT_EQ(merged.counts[counter::granted], granted);
  EXPECT_EQ(merged.counts[counter::refused_deadline], all.counts[counter::refused_deadline]);
  EXPECT_EQ(merged[series::response], all[series::response]);
  EXPECT_EQ(merged[series::service], all[series::service]);
  for (const double q : {0.5, 0.9, 0.99, 0.999, 1.0}) {
    EXPECT_EQ(merged[series::response].value_at_quantile(q),
              all[series::response].value_at_quantile(q));
  }
}

}  // namespace
}  // namespace lockmark::agents
