// The workers of a run on other machines: participants that agents started, with what they
// reported, in our time. To the run controller one more pool beside threads and processes.
//
// Participant i is with agent i mod the number of agents. The loss of an agent ends the histories
// of its participants where they are known to; the run goes on with the others.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/agents/agent_link.hpp"
#include "harness/run/participants/process_worker_pool.hpp"
#include "harness/run/result.hpp"
#include "harness/run/worker_pool.hpp"

namespace lockmark::agents {

// By how much the clocks of clients on several agents differ.
class link_clocks final : public check::clock_errors {
 public:
  // `of_participant`: the agent of each; null: nobody's. `clients`: of each instance.
  link_clocks(std::vector<agent_link*> of_participant, std::uint32_t clients)
      : of_participant_(std::move(of_participant)), clients_(clients) {}
  std::int64_t between(std::uint32_t client, std::uint32_t other,
                       std::int64_t at_ns) const override;

 private:
  const std::vector<agent_link*> of_participant_;
  const std::uint32_t clients_;
};

// What run.json says of a host and its clock.
run::load_host host_of(const agent_link& link, std::vector<std::uint32_t> participants);

class agent_worker_pool final : public run::separate_pool {
 public:
  using teller = std::function<void(const std::string& sentence)>;

  // The links outlive it. `run` counts the runs of the coordinator, from 1. Throws usage_error for
  // fewer participants than agents and for a job whose guard is in the memory of one machine, and
  // no_server for agents that are lost.
  agent_worker_pool(const real_clock& clock, std::vector<agent_link*> links,
                    const run::process_pool_setup& who, std::uint32_t run, teller tell);
  ~agent_worker_pool() override;

  // separate_pool
  run::window& measured() override { return window_; }
  // worker_pool
  void start() override;
  std::exception_ptr failure() override;
  bool all_ready() override;
  bool all_quiet() override;
  void go(time_point start) override;
  duration notice() const override;
  void announce() override;
  void stop() override;
  void hurry() override;
  void close() override;
  bool kill_the_stuck() override;
  task<bool> join(loop& controller, duration patience) override;
  std::vector<run::pool_member*> members() override;
  void fetch() override;
  const check::guard* guard() const override { return nullptr; }
  std::int64_t cpu_elsewhere_ns() const override;
  double cores() const override;
  const check::clock_errors* clocks() const override { return &*clocks_; }
  std::string trouble() const override;
  void tell(run::result& r) const override;

 private:
  void order();
  template <class F>
  bool each_member(F is_so) const;
  std::vector<far_member*> of_agent(std::size_t i) const;

  const real_clock& clock_;
  const std::vector<agent_link*> links_;
  const std::uint32_t run_;
  const teller tell_;
  run_shape shape_;
  run::window window_;
  orders orders_;
  bool started_ = false;
  // By participant. Before start(): those of nobody.
  std::vector<far_member*> members_;
  std::optional<link_clocks> clocks_;
};

}  // namespace lockmark::agents
