// A queue of ephemeral sequential nodes: whoever's turn has come holds it, the others each watch
// one node. The part of Curator's LockInternals that its recipes share.
#pragma once

#include "drivers/zookeeper/nodes.hpp"

namespace lockmark::zookeeper {

class node_queue {
 public:
  node_queue(loop& l, node_maker& nodes, const queue_kind& kind)
      : loop_(l), nodes_(nodes), kind_(kind) {}

  // Stands in line with `mine`, which was planned, until its turn has come. Unless that is done, it
  // has left the line, or will. Awaited at once by the owner of `mine`.
  task<outcome<grant>> enter(node& mine, limits until);

 private:
  task<outcome<grant>> wait_for_turn(node& mine, limits until);
  task<void> wait_for_change(std::shared_ptr<handle> zk, std::string path, limits until);

  loop& loop_;
  node_maker& nodes_;
  const queue_kind& kind_;
};

}  // namespace lockmark::zookeeper
