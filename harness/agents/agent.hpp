// An agent: joins a coordinator and, for each of its runs, starts its part of the participants on
// this machine, passes orders to them and reports what they measure. Decides nothing about a run,
// but ends it when its coordinator is gone.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "harness/agents/invitation.hpp"
#include "harness/run/participants/process_worker_pool.hpp"

namespace lockmark::agents {

struct agent_setup {
  std::string join;  // HOST:PORT
  invitation guests;
  std::string name;                            // unique among the agents of the coordinator
  std::string build;                           // the same as the coordinator's
  duration within = std::chrono::seconds{60};  // until it is welcomed
  // Where its part of a run is kept until the coordinator has all of it, in a folder of its own.
  std::string keep = "runs";
  // Reports that the coordinator has not acknowledged. Beyond it the load ends, and so the run.
  std::size_t buffer_bytes = 256 << 20;
  // The locks and workloads by name. Throws usage_error for names that there are not.
  std::function<const lock_kind&(const config::job&)> lock;
  std::function<const workload_kind&(const std::string&)> workload;
  const std::atomic<int>* interrupts = nullptr;
  std::function<void(const std::string&)> tell = [](const std::string&) {};
};

// Until the coordinator dismisses it. Throws usage_error if it was refused, and no_server if the
// coordinator cannot be reached or is gone.
void be_agent(const real_clock& clock, const agent_setup& s);

}  // namespace lockmark::agents
