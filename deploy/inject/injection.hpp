// One fault in force on this machine: its targets and how each means affects them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "deploy/inject/network.hpp"
#include "deploy/inject/server_links.hpp"
#include "deploy/local/cluster.hpp"
#include "harness/faults/kind.hpp"
#include "harness/faults/participant_control.hpp"
#include "harness/faults/side_thread.hpp"

namespace lockmark::inject {

// Everything within reach of one run's faults. Pointers are null where there is no such thing.
struct reach {
  local::cluster* own = nullptr;    // servers started for this run
  server_links* between = nullptr;  // of those
  network* clients = nullptr;       // links from clients to servers
  faults::participant_control* participants = nullptr;
  std::string key;  // the run's first key in Redis: its master is "the master"
  faults::side_thread servers_thread{};
  faults::side_thread commands_thread{};
};

class injection : public faults::targets {
 public:
  explicit injection(faults::fault_plan its) : plan(std::move(its)) {}

  const faults::fault_plan plan;
  std::vector<std::string> servers{};
  std::vector<std::uint32_t> participants{};
  network::link_list links{};    // from clients to servers
  network::link_list between{};  // from servers to servers
};

// `what` outlives it.
std::unique_ptr<injection> new_injection(reach& what, faults::fault_plan plan);

}  // namespace lockmark::inject
