// The coordinator's side of agents: listens, lets in whoever has the invitation, and keeps a link
// to each of them. Uses gRPC, whose threads carry no load.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/agents/agent_link.hpp"
#include "harness/agents/invitation.hpp"
#include "harness/run/participants/process_worker_pool.hpp"

namespace lockmark::agents {

struct coordinator_setup {
  std::string listen = "127.0.0.1:0";  // HOST:PORT; port 0: one that is free
  std::uint32_t agents = 1;            // how many to wait for
  duration within = std::chrono::seconds{60};
  std::string build;  // agents must be of the same
  identity who = make_identity();
  // What happened to an agent, a sentence; on the thread that calls the coordinator.
  std::function<void(const std::string&)> tell = [](const std::string&) {};
};

class coordinator {
 public:
  // Listens. Throws usage_error for an address that it cannot listen on.
  explicit coordinator(const real_clock& clock, coordinator_setup s);
  coordinator(const coordinator&) = delete;
  coordinator& operator=(const coordinator&) = delete;
  // Dismisses the agents.
  ~coordinator();

  // HOST:PORT.
  std::string address() const;
  std::string invitation_text() const;

  // Blocks until all have joined. Throws usage_error if they do not in time, or are interrupted.
  void wait(const std::atomic<int>& interrupts, const std::function<std::string()>& why_none);

  // Joined so far, in that order.
  std::vector<agent_link*> links() const;
  // Of the agents still here.
  double cores() const;
  // Makes the pool of one run. REQUIRES: wait(); one at a time.
  std::unique_ptr<run::separate_pool> make_pool(const run::process_pool_setup& who);

 private:
  class service;
  const real_clock& clock_;
  const coordinator_setup setup_;
  std::unique_ptr<service> service_;
  std::uint32_t runs_ = 0;
};

}  // namespace lockmark::agents
