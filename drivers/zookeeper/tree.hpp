// Many nodes at once: what a run creates before it, and removes behind it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "drivers/zookeeper/handle.hpp"

namespace lockmark::zookeeper {

// Creates all that are not there yet, in no order. The first reply that was neither, or ok.
task<reply> create_all(loop& l, std::shared_ptr<handle> zk, std::vector<std::string> paths,
                       node_kind kind, time_point deadline);

// Removes a node with all beneath it, also while others still add to it. The worst reply, or ok.
task<reply> delete_tree(loop& l, std::shared_ptr<handle> zk, std::string path, time_point deadline);

}  // namespace lockmark::zookeeper
