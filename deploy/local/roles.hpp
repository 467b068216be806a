// Who leads and who follows in a local cluster, as its servers say, and the link between them.
//
// Blocks, for two seconds at most for each server that does not answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "deploy/local/record.hpp"

namespace lockmark::local {

// Whether it serves clients: sentinels only watch.
bool serves(const server_info& server);

// Names of servers that lead: the master that the sentinels agree on, the leader of an ensemble,
// who can be written to; each that stands for itself. Empty: nobody does now.
std::vector<std::string> leaders(const cluster_info& cluster);
// Names of those that follow somebody now.
std::vector<std::string> followers(const cluster_info& cluster);

// Of a Redis Cluster: the master that serves the key; empty where nobody does.
std::string owner_of(const cluster_info& cluster, std::string_view key);

// Whether a server of this topology that is cut off is parted from the other servers, too: where a
// majority has to agree, that is the point of it.
bool can_partition(std::string_view topology);

// Whether the replication of this topology can be cut while its servers run.
bool can_cut_replication(std::string_view topology);

// Masters send their replicas nothing any more, whoever is who; clients, sentinels and the bus of a
// Redis Cluster notice nothing. Throws start_error.
//
// Redis: the replicas' connections are ended, and its ACL forbids new ones, which needs no proxies
// and holds whoever becomes master. MariaDB: the replicas' receiving threads are stopped.
void cut_replication(const cluster_info& cluster);
// Undoes it wherever a server answers. Throws start_error where none does.
void mend_replication(const cluster_info& cluster);

}  // namespace lockmark::local
