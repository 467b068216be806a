// Makes another server the master of a local cluster, as whoever watches over it does.
#pragma once

#include <string>
#include <string_view>

#include "deploy/local/record.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::local {

// Whether a master of this topology can be replaced by a command. The leader of an ensemble cannot:
// its servers elect one where it is gone.
bool can_fail_over(std::string_view topology);

struct promotion {
  std::string from;  // who led before; empty: nobody did any more
  std::string to;
  time_point ordered{};  // stamped before the first command that changes anything
};

// Returns when the new master leads, and no other one does. `key`: in a Redis Cluster, whose
// master. Blocks, for some ten seconds at most. Throws start_error.
//
// Sentinel: SENTINEL FAILOVER, which asks nobody and does not stop the old master before. Cluster:
// CLUSTER FAILOVER at a replica, which hands over at one point of the stream of writes, and
// TAKEOVER where the master does not answer or the replica hears nothing of it. MariaDB: the old
// master, if it lives, can only be read from then on; the replica executes what it has received and
// can be written to. The other replica goes on following the old master.
promotion fail_over(const cluster_info& cluster, std::string_view key);

}  // namespace lockmark::local
