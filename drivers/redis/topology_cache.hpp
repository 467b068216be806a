// Where the servers of one deployment are at the moment: what its sentinels or its nodes say,
// shared by all connections of a session. A single server is where its target says, always.
//
// However many connections look at once, one asks and all are told.
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

class topology_cache {
 public:
  // `where` and `count` must outlive this.
  topology_cache(loop& l, const target& where, traffic& count);
  topology_cache(const topology_cache&) = delete;
  topology_cache& operator=(const topology_cache&) = delete;

  const target& where() const { return where_; }

  // Asks the sentinels, or nodes of the Cluster, one after another until one knows, each for a
  // short time; who knew is asked first the next time. False: nobody did by the deadline.
  task<bool> look(time_point deadline);
  // Why nobody did: the end of a sentence.
  const std::string& reason() const { return reason_; }

  // Sentinel: opens the link to the master, which is looked for and must say itself that it is one.
  // Between the death of a master and the promotion of another it is looked for again and again.
  task<std::error_code> open_master(link& l, time_point deadline);
  // Sentinel: the master as the last look() found it.
  const host_port& master() const { return master_; }

  // Called after each look() that succeeded; until `listener` is told to be null.
  void tell(std::function<void()> listener) { listener_ = std::move(listener); }

  // Cluster: who serves a slot, null where nobody is known; and every master.
  const host_port* master_of(std::uint16_t slot) const { return map_.master_of(slot); }
  const std::vector<host_port>& masters() const { return map_.masters(); }
  bool knows_the_cluster() const { return !map_.masters().empty(); }

  // Cluster: whether messages reach the node of a channel only (Redis 7), or all nodes. Known
  // after the first look() that succeeded.
  bool shards_messages() const { return shards_messages_; }

  // A redirection as one node said it, its address as it is to be reached from here.
  redirection understood(redirection r) const;
  // Keeps what a redirection said. True when it is time to look() for the rest, too: one slot that
  // moves is followed by others, but a thousand redirections are no reason for a thousand looks.
  bool learn(const redirection& r);

  // Whether a look() would tell anything new.
  bool is_due() const { return !looking_ && loop_.now() >= next_look_; }
  // A node that has not answered is asked last from now on.
  void suspect(const host_port& node) { suspect_ = node; }

  // Replicas of a master, as kept by Redisson's client: until it is told that they are others.
  std::optional<std::int64_t> replicas_of(const host_port& master) const;
  void keep_replicas(const host_port& master, std::int64_t count) { replicas_[master] = count; }
  void forget_replicas(const host_port& master) { replicas_.erase(master); }

 private:
  task<void> look_for_all(time_point deadline);
  task<std::error_code> confirm_master(link& l, time_point deadline);
  task<bool> ask(host_port at, time_point deadline);
  task<void> ask_about_messages(link& asked, time_point deadline);
  bool understand(const reply& said, const host_port& from);
  std::vector<host_port> whom_to_ask() const;

  loop& loop_;
  const target& where_;
  traffic& count_;
  std::vector<host_port> first_asked_;  // the target's hosts, in the order in which to ask them
  host_port master_;
  host_port suspect_;
  cluster_map map_;
  std::map<host_port, std::int64_t> replicas_;
  time_point next_look_{};
  std::string reason_;
  bool shards_messages_ = false;
  bool looking_ = false;
  bool found_ = false;
  std::function<void()> listener_;
  std::deque<signal*> waiting_;  // for the one who looks
};

}  // namespace lockmark::redis
