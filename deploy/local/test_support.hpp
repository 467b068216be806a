// Common to the tests with real servers: whether processes exist, and waiting for a condition.
#pragma once

#include <sys/types.h>

#include <string>

#include "deploy/local/ask.hpp"
#include "deploy/local/cluster.hpp"

namespace lockmark::local {

// Whether the process runs; a zombie, which only waits for its parent, does not.
bool is_running(pid_t pid);

// Whether the keeper, all servers and the directory are gone.
bool is_gone(const cluster_info& cluster);

// A process that has started a cluster and then does nothing. It leads its own process group.
struct orphan {
  pid_t owner = 0;
  cluster_info cluster;
};
orphan start_in_child(const std::string& topology);

}  // namespace lockmark::local
