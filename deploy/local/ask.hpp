// One query to one server of a local cluster, and its answer. Blocks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "deploy/local/probe.hpp"
#include "deploy/local/record.hpp"

namespace lockmark::local {

// The time-out for an answer of Redis or ZooKeeper.
inline constexpr duration patience = std::chrono::seconds{2};

// Polls until the condition holds; false if it does not within the limit.
bool eventually(const std::function<bool()>& condition, duration limit = std::chrono::seconds{15});

// Judges of Redis replies: of INFO replication; of a one-line reply or an error; of a bulk string,
// "$SIZE\r\n...\r\n".
verdict judge_info(std::string_view answer);
verdict judge_line(std::string_view answer);
verdict judge_bulk(std::string_view answer);
// Of INFO replication: a replica is ready once its link is up, a master always.
verdict judge_replication(std::string_view answer);

// A line of a Redis Cluster's CLUSTER NODES.
struct cluster_node {
  std::string id;
  int port = 0;
  std::string flags;               // "myself,master"
  std::string master;              // its id; "-": it is one itself
  std::vector<std::string> slots;  // "SLOT", "FIRST-LAST" or, while one migrates, "[...]"

  bool is(std::string_view flag) const { return flags.find(flag) != flags.npos; }
};
// Those that one node knows; none if it does not answer.
std::vector<cluster_node> nodes_told_by(const server_info& server);

// psql's output for these statements as the superuser, within ten seconds, each a transaction of
// its own; empty if one failed, a newline if there are no rows.
std::string ask_postgres(const cluster_info& cluster, const server_info& server,
                         std::string_view statements);

// MariaDB's output for these statements, within ten seconds; empty if it failed. Uses root's
// socket, which needs no password.
std::string ask_mariadb(const cluster_info& cluster, const server_info& server,
                        std::string_view statements);

}  // namespace lockmark::local
