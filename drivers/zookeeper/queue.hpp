// A queue of ephemeral sequential nodes: the node whose turn has come holds the lock, each of the
// others watches one node. The common part of Curator's recipes, LockInternals.
#pragma once

#include "drivers/zookeeper/nodes.hpp"

namespace lockmark::zookeeper {

class node_queue {
 public:
  node_queue(loop& l, node_maker& nodes, const queue_kind& kind)
      : loop_(l), nodes_(nodes), kind_(kind) {}

  // Joins the queue with `mine`, a planned node, and waits for its turn. Unless the result is done,
  // `mine` has left the queue or will. Awaited at once by the owner of `mine`.
  task<outcome<grant>> enter(node& mine, limits until);

 private:
  task<outcome<grant>> wait_for_turn(node& mine, limits until);
  task<void> wait_for_change(std::shared_ptr<handle> zk, std::string path, limits until);

  loop& loop_;
  node_maker& nodes_;
  const queue_kind& kind_;
};

}  // namespace lockmark::zookeeper
