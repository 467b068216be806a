// The current addresses of one deployment's servers, as its sentinels or nodes tell them; shared by
// all connections of a session. A single server is always at its target's address.
//
// If several connections look at once, one asks for all of them.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "drivers/redis/cluster_map.hpp"
#include "drivers/redis/link.hpp"
#include "harness/async/signal.hpp"

namespace lockmark::redis {

// What a master says of its replicas.
struct replication {
  std::int64_t replicas = 0;
  bool to_disk = false;  // WAITAOF can wait until they have a write in their append-only files
};

class topology_cache {
 public:
  // `where` and `count` must outlive this.
  topology_cache(loop& l, const target& where, traffic& count);
  topology_cache(const topology_cache&) = delete;
  topology_cache& operator=(const topology_cache&) = delete;

  const target& where() const { return where_; }

  // Asks the sentinels, or the Cluster's nodes, one after another until one knows, each for a short
  // time; that one is asked first the next time. False: none of them knew by the deadline.
  task<bool> look(time_point deadline);
  // The reason, as a sentence.
  const std::string& reason() const { return reason_; }

  // Sentinel: looks for the master and opens the link to it; the server itself must say that it is
  // the master. Between the death of one master and the promotion of another, it looks repeatedly.
  task<std::error_code> open_master(link& l, time_point deadline);
  // Sentinel: the master found by the last look().
  const host_port& master() const { return master_; }

  // Calls `listener` after each successful look(); null ends that.
  void tell(std::function<void()> listener) { listener_ = std::move(listener); }

  // Cluster: the master of a slot, null if unknown; and every master.
  const host_port* master_of(std::uint16_t slot) const { return map_.master_of(slot); }
  const std::vector<host_port>& masters() const { return map_.masters(); }
  bool knows_the_cluster() const { return !map_.masters().empty(); }

  // Cluster: whether messages reach only the node of their channel (Redis 7), or all nodes. Known
  // after the first successful look().
  bool shards_messages() const { return shards_messages_; }

  // A node's redirection, with the address at which its target is reached from here.
  redirection understood(redirection r) const {
    r.to = where_.reached_at(r.to);
    return r;
  }
  // Follows a redirection from now on. True when a look() is due as well: a slot that moves is
  // followed by others, but a thousand redirections are no reason for a thousand looks.
  bool learn(const redirection& r) {
    map_.move(r.slot, r.to);
    return is_due();
  }

  // Whether a look() could tell anything new.
  bool is_due() const { return !looking_ && loop_.now() >= next_look_; }
  // Asks this node last from now on: it has not answered.
  void suspect(const host_port& node) { suspect_ = node; }

  // Kept until it is contradicted, as by Redisson's client.
  std::optional<replication>& replication_of(const host_port& master) {
    return replications_[master];
  }

 private:
  task<void> look_for_all(time_point deadline);
  task<std::error_code> confirm_master(link& l, time_point deadline);
  task<bool> ask(host_port at, time_point deadline);
  task<void> ask_about_messages(link& asked, time_point deadline);
  bool understand(const reply& said, const host_port& from);
  std::vector<host_port> hosts_to_ask() const;

  loop& loop_;
  const target& where_;
  traffic& count_;
  std::vector<host_port> first_asked_;  // the target's hosts, in the order of asking
  host_port master_;
  host_port suspect_;
  cluster_map map_;
  std::map<host_port, std::optional<replication>> replications_;
  time_point next_look_{};
  std::string reason_;
  bool shards_messages_ = false;
  bool looking_ = false;
  bool found_ = false;
  std::function<void()> listener_;
  std::deque<signal*> waiting_;  // for the end of the look in progress
};

}  // namespace lockmark::redis
