// Bulk operations on nodes: a run's creation and removal. They go on with another connection when
// one is lost, for as long as the session lives and the deadline allows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "drivers/zookeeper/handle.hpp"

namespace lockmark::zookeeper {

// Creates all missing nodes, in any order. Ok, or a reply that was neither ok nor node_exists.
task<reply> create_all(loop& l, std::shared_ptr<handle> zk, std::vector<std::string> paths,
                       node_kind kind, time_point deadline);

// Removes a node and all below it, even while clients still add to it. The worst reply, or ok.
task<reply> delete_tree(loop& l, std::shared_ptr<handle> zk, std::string path, time_point deadline);

}  // namespace lockmark::zookeeper
