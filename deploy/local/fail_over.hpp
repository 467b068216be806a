// Promotes another server to master of a local cluster, as its supervisor would.
#pragma once

#include <string>
#include <string_view>

#include "deploy/local/record.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::local {

// Whether a command can replace a master of this topology. Not the leader of an ensemble: its
// servers elect a new one when it is gone.
bool can_fail_over(std::string_view topology);

struct promotion {
  std::string from;  // the former leader; empty: there was none any more
  std::string to;
  time_point ordered{};  // taken before the first command that changes anything
};

// Returns when the new master leads, and no other server does. `key`: in a Redis Cluster, selects
// the master. Blocks, for some ten seconds at most. Throws start_error.
//
// Sentinel: SENTINEL FAILOVER, which needs no agreement and does not stop the old master first.
// Cluster: CLUSTER FAILOVER at a replica, which hands over at one point of the stream of writes,
// and TAKEOVER if the master does not answer or the replica hears nothing from it. MariaDB: the old
// master, if alive, becomes read-only; the replica executes everything it has received and becomes
// writable. The other replica keeps following the old master. PostgreSQL: the old primary, if
// alive, is shut down; the standby that has most of its log is promoted, and the other follows it.
promotion fail_over(const cluster_info& cluster, std::string_view key);

}  // namespace lockmark::local
