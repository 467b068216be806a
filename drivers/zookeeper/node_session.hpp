// Sessions of locks held by ephemeral nodes of the client: who holds what, and how often.
//
// A lock adds how its nodes are acquired. Guarantee: never too many holders, as long as no holder
// outlives its session. alive() tells a holder that it may have; the token (its node's czxid) tells
// everybody else.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "drivers/zookeeper/instance_session.hpp"
#include "drivers/zookeeper/nodes.hpp"

namespace lockmark::zookeeper {

class node_session : public instance_session {
 public:
  node_session(loop& l, const instance& who, session_setup setup)
      : instance_session(l, std::move(setup)), nodes_(l, tasks_, who.id) {}

  task<outcome<grant>> acquire(request r) final;
  task<outcome<grant>> renew(request r) final;
  task<outcome<nothing>> release(request r) final;

  // Also false until the owner learns from its release that its hold ended with an earlier session.
  bool alive() const final;

 protected:
  // The lock itself. When done, `taken` are the nodes now held, in the order in which they were
  // acquired; otherwise no node is left behind, except those already being removed. Awaited at once
  // by the owner of `taken`.
  virtual task<outcome<grant>> take(std::shared_ptr<handle> zk, request r,
                                    std::vector<node>& taken) = 0;

  using reading = task<reply> (handle::*)(const std::string&, std::shared_ptr<node_watch>,
                                          time_point);

  // Joins a queue of ephemeral sequential nodes with `mine`, a planned node, and waits for its
  // turn; meanwhile it watches one node, by `watch`. The common part of Curator's recipes,
  // LockInternals. Unless the result is done, `mine` has left the queue or will. Awaited at once by
  // the owner of `mine`.
  task<outcome<grant>> enter(const queue_kind& queue, node& mine, limits until,
                             reading watch = &handle::get);

  // Reads the node by handle::get or handle::exists and waits for its next change. Returns at once
  // if there is no node.
  task<void> wait_for_change(std::shared_ptr<handle> zk, std::string path, reading read,
                             limits until);

  // True: an owner that already holds is granted at once, and has to release as often (Curator's
  // map from threads to their LockData). False: it acquires one more.
  virtual bool reentrant() const { return false; }

  node_maker nodes_;

 private:
  struct hold {
    std::vector<node> nodes;
    grant granted{};
    std::uint32_t depth = 1;
  };
  using owner_of_key = std::pair<std::uint32_t, std::uint32_t>;  // request::key, request::client

  hold* find_hold(const request& r);
  task<outcome<nothing>> release_held(request r);

  std::multimap<owner_of_key, hold> holds_;
};

}  // namespace lockmark::zookeeper
