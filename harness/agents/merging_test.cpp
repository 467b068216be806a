// What three hosts measured, merged by their coordinator, is what one place would have measured:
// the same histograms bucket by bucket, the same counts.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "drivers/memory/memory.hpp"
#include "harness/agents/agent_link.hpp"
#include "harness/agents/agent_worker_pool.hpp"
#include "harness/run/collector.hpp"
#include "harness/run/participants/interval_codec.hpp"
#include "harness/stats/random.hpp"
#include "workloads/workloads.hpp"

namespace lockmark::agents {
namespace {

using run::counter;
using run::series;

constexpr std::uint32_t merged_hosts = 3;
constexpr std::int64_t tenth_ns = 100'000'000;

class three_hosts {
 public:
  three_hosts() : job_(job()), lock_(memory::kinds().front()), workload_(workloads::mutex()) {
    std::vector<agent_link*> all;
    for (std::uint32_t n = 0; n < merged_hosts; ++n) {
      links_.push_back(std::make_unique<agent_link>(
          clock_, host_facts{fmt::format("h{}", n), "", 2}, fmt::format("{}", n)));
      // Their clocks stand 1,000 s apart.
      const std::int64_t ahead_ns = ahead_of(n);
      links_.back()->learn({.sent_ns = ahead_ns,
                            .received_ns = 10,
                            .answered_ns = 20,
                            .heard_ns = ahead_ns + 30,
                            .drift_ppm = 0});
      connections_.push_back(links_.back()->connect(0));
      all.push_back(links_.back().get());
    }
    const run::process_pool_setup who{.job = job_,
                                      .lock = lock_,
                                      .workload = workload_,
                                      .options = {},
                                      .run_id = "test",
                                      .target_of = [](std::uint32_t) { return "memory:"; }};
    pool_ = std::make_unique<agent_worker_pool>(clock_, all, who, 1, [](const std::string&) {});
    run::history_checker::shape shape;
    shape.clients = shape.competitors = merged_hosts;
    shape.clocks = pool_->clocks();
    collector_ = std::make_unique<run::collector>(*pool_, shape, pool_->measured(), nullptr);
    pool_->measured().start_ns = 0;
  }

  // An interval of the host, by its own clock, as a report.
  void report(std::uint32_t host, const run::interval& measured) {
    run::interval i = measured;
    i.start_ns += ahead_of(host);
    i.end_ns += ahead_of(host);
    wire::FromAgent message;
    message.set_number(++reports_[host]);
    wire::Report r;
    r.set_run(1);
    wire::ParticipantReport& p = *r.add_participants();
    p.set_number(host);
    p.set_state(wire::ParticipantReport::READY);
    p.set_complete_until_ns(i.end_ns);
    p.add_intervals(run::encode(i));
    message.set_report(r.SerializeAsString());
    wire::FromAgent arrived;
    ASSERT_TRUE(arrived.ParseFromString(message.SerializeAsString()));
    ASSERT_TRUE(links_[host]->take(connections_[host], arrived));
  }

  const run::interval& merged() {
    collector_->collect();
    return collector_->totals();
  }

 private:
  static std::int64_t ahead_of(std::uint32_t host) { return (host + 1) * 1'000'000'000'000; }
  static config::job job() {
    config::job j = config::default_job();
    j.instances = j.participants = merged_hosts;
    j.clients = 1;
    return j;
  }

  const real_clock clock_;
  const config::job job_;
  const lock_kind lock_;
  const workload_kind workload_;
  std::vector<std::unique_ptr<agent_link>> links_;
  std::vector<std::uint64_t> connections_;
  std::unique_ptr<agent_worker_pool> pool_;
  std::unique_ptr<run::collector> collector_;
  std::uint64_t reports_[merged_hosts] = {};
};

TEST(merging, is_what_one_place_would_have_measured) {
  three_hosts cluster;
  run::interval all;
  stats::random_source random(17);
  std::uint64_t granted = 0;
  for (int tenth = 0; tenth < 20; ++tenth) {
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
      cluster.report(host, i);
    }
  }
  // The last interval waits for those that may still come.
  for (std::uint32_t host = 0; host < merged_hosts; ++host) {
    run::interval last;
    last.start_ns = 20 * tenth_ns;
    last.end_ns = last.start_ns + tenth_ns;
    cluster.report(host, last);
  }
  const run::interval& merged = cluster.merged();
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
