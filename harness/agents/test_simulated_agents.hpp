// For tests and benchmarks: agents without a network or a process, whose reports a coordinator
// collects. Each has one participant of one client.
#pragma once

#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "harness/agents/agent_link.hpp"
#include "harness/agents/agent_worker_pool.hpp"
#include "harness/driver.hpp"
#include "harness/run/collector.hpp"
#include "harness/workload.hpp"

namespace lockmark::agents {

class simulated_agents {
 public:
  // The clock of agent n is (n + 1) times `apart_ns` ahead, and known to some ns. All clients may
  // want each of the keys. Neither lock nor workload is used: a run names them.
  simulated_agents(const lock_kind& lock, const workload_kind& workload, std::uint32_t count,
                   std::uint32_t keys, std::int64_t apart_ns)
      : apart_ns_(apart_ns), job_(job_of(count, keys)), lock_(lock), workload_(workload) {
    std::vector<agent_link*> all;
    for (std::uint32_t n = 0; n < count; ++n) {
      links_.push_back(std::make_unique<agent_link>(
          clock_, host_facts{fmt::format("a{}", n), "", 2}, fmt::format("{}", n)));
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
                                      .run_id = "simulated",
                                      .target_of = [](std::uint32_t) { return "memory:"; }};
    pool_ = std::make_unique<agent_worker_pool>(clock_, all, who, 1, [](const std::string&) {});
    run::history_checker::shape shape;
    shape.keys = keys;
    shape.clients = shape.competitors = count;
    shape.clocks = pool_->clocks();
    collector_ = std::make_unique<run::collector>(*pool_, shape, pool_->measured(), nullptr);
    pool_->measured().start_ns = 0;
  }

  std::int64_t ahead_of(std::uint32_t agent) const { return (agent + 1) * apart_ns_; }

  // A report on the agent's participant, as bytes of the wire.
  static std::string as_bytes(std::uint64_t number, wire::ParticipantReport about) {
    wire::Report report;
    report.set_run(1);
    *report.add_participants() = std::move(about);
    wire::FromAgent message;
    message.set_number(number);
    message.set_report(report.SerializeAsString());
    return message.SerializeAsString();
  }
  // Whether the coordinator took it.
  bool take(std::uint32_t agent, const std::string& bytes) {
    wire::FromAgent message;
    return message.ParseFromString(bytes) && links_[agent]->take(connections_[agent], message);
  }

  run::collector& collector() { return *collector_; }

 private:
  static config::job job_of(std::uint32_t count, std::uint32_t keys) {
    config::job j = config::default_job();
    j.instances = j.participants = count;
    j.clients = 1;
    j.keys = *config::parse_key_choice(fmt::format("uniform({})", keys));
    return j;
  }

  const std::int64_t apart_ns_;
  const real_clock clock_;
  const config::job job_;
  const lock_kind lock_;
  const workload_kind workload_;
  std::vector<std::unique_ptr<agent_link>> links_;
  std::vector<std::uint64_t> connections_;
  std::unique_ptr<agent_worker_pool> pool_;
  std::unique_ptr<run::collector> collector_;
};

}  // namespace lockmark::agents
