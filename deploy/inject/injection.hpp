// One fault in force on this machine: its targets and how each means affects them.
#pragma once

#include <functional>
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

class injection final : public faults::targets {
 public:
  // `what` outlives it.
  injection(reach& what, faults::fault_plan its) : plan(std::move(its)), reach_(what) {}

  const faults::fault_plan plan;
  std::vector<std::string> servers{};
  std::vector<std::uint32_t> participants{};
  network::link_list links{};    // from clients to servers
  network::link_list between{};  // from servers to servers

  task<void> signal(loop& l, int number) override;
  task<void> restart(loop& l, bool keeps_data) override;
  task<void> set_clocks(loop& l, duration ahead) override;
  task<void> set_links(loop& l, faults::link_mode mode, duration by) override;
  task<void> promote(loop& l) override;
  task<void> shell(loop& l, std::string command) override;

 private:
  task<void> for_each_server(loop& l, std::function<void(const std::string&)> act);
  void signal_participant(std::uint32_t which, int number);

  reach& reach_;
};

}  // namespace lockmark::inject
