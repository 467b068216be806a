// Injects faults into everything within reach: servers started by lockmark, participants in
// processes of their own, its own links to any server (through proxies), and anything else that a
// user's commands can reach.
//
// The effects of each fault:
//   pause, kill     signals; a killed server is restarted on its old port; with `data: lost` its
//                   stored data are removed first (MariaDB cannot: it would have to be installed
//                   again)
//   cut, stall,     of participants: their links to the servers. Of servers: their links to the
//   delay           clients, and in an ensemble of ZooKeepers also those to the other servers,
//                   which partitions it. Links within a side stay intact; clients are on the side
//                   of the servers that are not named, except those of `with`. In other
//                   topologies servers and sentinels still reach each other
//   ... of a link   the traffic between two local servers, both ways; clients notice nothing
//   cut replication see local::cut_replication
//   fail_over       see local::fail_over
//   jump_clock      a preload shim in each server of the cluster
//
// "The holder's request" (on) is one answered as the plan says (answered), or else one sent while
// no other participant holds a key: the bytes of unsuccessful attempts are the same.
//
// Proxies between servers cannot be put into their configuration: a ZooKeeper answers an election
// at the address that the peer gives in its first message, sentinels restore a master's address,
// and nodes of a Redis Cluster announce their own. So the servers keep their addresses, and a shim
// below them changes the addresses that they dial (deploy/local/link_shim).
//
// Two faults on one link at the same time end together, when the first of them ends.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "deploy/inject/fault_needs.hpp"
#include "deploy/inject/injection.hpp"
#include "harness/faults/injector.hpp"

namespace lockmark::inject {

class local_injector final : public faults::injector {
 public:
  struct environment {
    local::cluster* own = nullptr;    // servers started for this run; null: started by others
    server_links* between = nullptr;  // of those; null: no fault needs to part them
    std::string url;                  // of the target, with its password
    std::uint32_t participants = 0;
    bool in_programs = false;        // their clients are external programs (exec/...)
    std::string key;                 // the run's first key in Redis: its master is "the master"
    faults::link_latency latency{};  // of the links between clients and servers
    std::string program = "/proc/self/exe";  // lockmark, which also serves as its own proxies
  };

  // Starts proxies if a plan or the latency needs them. Throws usage_error as check() does, and
  // proxy_error.
  local_injector(environment where, const std::vector<faults::fault_plan>& plans);
  ~local_injector() override;

  // The URL for clients in this process or for those of a participant.
  std::string url_of(std::uint32_t participant = 0) const;
  // The participants; needed before begin() if a plan aims at them.
  void bind(faults::participant_control* who) { reach_.participants = who; }

  void check(const faults::fault_plan& plan) const override;
  task<bool> awaited(loop& l, faults::fault_plan plan, time_point deadline) override;
  void stop_waiting() noexcept override;
  task<faults::active_fault> begin(loop& l, faults::fault_plan plan) override;
  task<void> end(loop& l, faults::fault_plan plan, faults::active_fault which) override;
  task<void> end_all(loop& l) override;
  bool has_proxies() const override { return network_ != nullptr; }
  std::int64_t proxies_cpu_ns() const override;
  std::string trouble() const override;

 private:
  void check_participants(const faults::fault_plan& plan) const;
  void check_servers(const faults::fault_plan& plan) const;
  void check_role(const faults::fault_plan& plan, std::string_view topology) const;
  void check_links(const faults::fault_plan& plan) const;
  void check_link(const faults::fault_plan& plan) const;
  bool partitions() const;
  std::vector<std::string> serving() const;
  std::string server_named(const std::string& which) const;
  std::vector<std::string> ends_of(const faults::fault_plan& plan) const;
  std::vector<std::string> find_servers(const faults::fault_plan& plan) const;

  task<std::vector<std::uint32_t>> find_participants(loop& l, std::string who, std::ptrdiff_t held);
  task<void> aim(loop& l, injection* at, std::ptrdiff_t held);
  task<void> aim_at_participants(loop& l, injection* at, std::ptrdiff_t held);
  task<void> aim_at_servers(loop& l, injection* at);
  bool others_hold(std::uint32_t participant) const;
  task<void> let_go(loop& l, std::size_t link);
  std::ptrdiff_t take_held(const faults::fault_plan& plan);

  environment where_;
  std::vector<known_server> servers_;  // all servers named by the URL or the cluster
  std::unique_ptr<network> network_;
  reach reach_;
  std::map<int, std::unique_ptr<injection>> on_;
  // Links that hold back the answer to an awaited request, with the plan that awaited it.
  std::vector<std::pair<faults::fault_plan, std::size_t>> held_;
  int last_handle_ = 0;
  bool stopping_ = false;
};

}  // namespace lockmark::inject
