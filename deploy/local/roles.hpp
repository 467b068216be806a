// The leaders and followers of a local cluster, as its servers report, and the replication between
// them.
//
// Blocks, for at most two seconds per server that does not answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "deploy/local/record.hpp"

namespace lockmark::local {

// Whether it serves clients: sentinels only watch.
bool serves(const server_info& server);

// The servers that lead now: the master that the sentinels agree on, the leader of an ensemble, the
// writable servers; every independent server. Empty: there is none now.
std::vector<std::string> leaders(const cluster_info& cluster);
// The servers that are followers now.
std::vector<std::string> followers(const cluster_info& cluster);

// In a Redis Cluster: the master that serves the key; empty if there is none.
std::string owner_of(const cluster_info& cluster, std::string_view key);

// Whether cutting off a server of this topology also parts it from the other servers: if a majority
// has to agree, that is the purpose.
bool can_partition(std::string_view topology);

// Whether the servers of this topology elect their leader themselves.
bool elects_leader(std::string_view topology);

// Whether the replication of this topology can be cut while its servers run.
bool can_cut_replication(std::string_view topology);

// Masters stop sending to their replicas, whatever the roles; clients, sentinels and the bus of a
// Redis Cluster notice nothing. Throws start_error.
//
// Redis: the replicas' connections are ended, and the ACL forbids new ones, which needs no proxies
// and applies to any future master. MariaDB: the replicas' receiving threads are stopped.
// PostgreSQL: the standbys forget where their primary is; a primary that waits for them then
// acknowledges nothing.
void cut_replication(const cluster_info& cluster);
// Undoes it on every server that answers. Throws start_error if none does.
void mend_replication(const cluster_info& cluster);

}  // namespace lockmark::local
