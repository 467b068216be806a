// Inflicts faults on what lockmark can reach: servers that it started itself, participants that are
// processes, its own links to any server (through proxies), and by commands of the user's whatever
// those can.
//
// What really happens:
//   pause, kill     signals; a killed server is started again on its old port, and where `data:
//                   lost`, what it had stored is removed before (MariaDB cannot: it would have to
//                   be installed again)
//   cut, stall,     of participants: their links to the servers. Of servers: their links to the
//   delay           clients, and in an ensemble of ZooKeepers also those to the other servers, so
//                   that it is parted in two. What is on the same side stays joined; clients are on
//                   the side of the servers that are not named, but for those of `with`. Elsewhere
//                   servers go on reaching each other, and so do sentinels
//   ... of a link   what passes between two local servers, both ways; clients notice nothing
//   cut replication see local::cut_replication
//   fail_over       see local::fail_over
//   jump_clock      a preload shim in each server of the cluster
//
// "The holder's request" (on) is one that is answered as the plan says (answered), or else while no
// other participant holds a key: the bytes of those who ask in vain are the same.
//
// Proxies between servers cannot be put into their configuration: a ZooKeeper answers an election
// at the address that the other one gives in its first message, sentinels put the address of a
// master back, and nodes of a Redis Cluster tell each other theirs. So the servers keep their
// addresses, and what they dial is changed beneath them (deploy/local/link_shim).
//
// Two faults that hit one link at a time end together, with the first of them that ends.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deploy/inject/fault_needs.hpp"
#include "deploy/inject/network.hpp"
#include "deploy/inject/server_links.hpp"
#include "deploy/local/cluster.hpp"
#include "harness/faults/injector.hpp"
#include "harness/faults/participant_control.hpp"
#include "harness/faults/side_thread.hpp"

namespace lockmark::inject {

class local_injector final : public faults::injector {
 public:
  struct environment {
    local::cluster* own = nullptr;    // servers that lockmark started for this run; null: others'
    server_links* between = nullptr;  // of those; null: no fault needs to part them
    std::string url;                  // of the target, with its password
    std::uint32_t participants = 0;
    bool in_programs = false;  // their clients are programs of others (exec/...), not in lockmark
    std::string key;  // the name of the run's first key in Redis: whose master is "the master"
    std::string program = "/proc/self/exe";  // lockmark, which is its own proxies, too
  };

  // Starts proxies if a plan needs them. Throws usage_error as check() does, and proxy_error.
  local_injector(environment where, const std::vector<config::fault_plan>& plans);
  ~local_injector() override;

  // The way to the servers, for the clients in this process or for those of a participant.
  std::string url_of(std::uint32_t participant = 0) const;
  // Who plays; needed before begin() if a plan aims at participants.
  void bind(faults::participant_control* who) { participants_ = who; }

  void check(const config::fault_plan& plan) const override;
  task<bool> awaited(loop& l, config::fault_plan plan, time_point deadline) override;
  void stop_waiting() noexcept override;
  task<faults::active_fault> begin(loop& l, config::fault_plan plan) override;
  task<void> end(loop& l, config::fault_plan plan, faults::active_fault which) override;
  task<void> end_all(loop& l) override;
  bool has_proxies() const override { return network_ != nullptr; }
  std::string trouble() const override;

 private:
  // What is on: what was hit, so that it can be healed.
  struct injection {
    config::fault_plan plan;
    std::vector<std::string> servers{};
    std::vector<std::uint32_t> participants{};
    network::link_list links{};    // of clients to servers
    network::link_list between{};  // of servers to servers
  };

  void check_participants(const config::fault_plan& plan) const;
  void check_servers(const config::fault_plan& plan) const;
  void check_links(const config::fault_plan& plan) const;
  void check_link(const config::fault_plan& plan) const;
  bool partitions() const;
  std::vector<std::string> serving() const;
  std::string server_named(const std::string& which) const;
  std::vector<std::string> ends_of(const config::fault_plan& plan) const;
  std::vector<std::string> find_servers(const config::fault_plan& plan) const;

  task<std::vector<std::uint32_t>> find_participants(loop& l, std::string who, std::ptrdiff_t held);
  task<time_point> inject(loop& l, injection* at);
  task<time_point> hit_participants(loop& l, injection* at, std::ptrdiff_t held);
  task<time_point> hit_servers(loop& l, injection* at);
  task<void> set_links(loop& l, injection* at, bool healthy);
  task<void> heal(loop& l, injection* at);
  void hit_process(const injection& at);
  time_point fail_over(injection* at);
  void heal_process(const injection& at);
  bool others_hold(std::uint32_t participant) const;
  task<void> command(loop& l, std::string text);
  std::ptrdiff_t take_held(const config::fault_plan& plan);

  environment where_;
  std::vector<known_server> servers_;  // all that the URL or the cluster names
  std::unique_ptr<network> network_;
  faults::participant_control* participants_ = nullptr;
  std::map<int, injection> on_;
  // Links at which the answer to an awaited request is held back, by whose plan it was.
  std::vector<std::pair<config::fault_plan, std::size_t>> held_;
  int last_handle_ = 0;
  bool stopping_ = false;
  faults::side_thread servers_thread_;
  faults::side_thread commands_thread_;
};

}  // namespace lockmark::inject
