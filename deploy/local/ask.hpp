// One query to one server of a local cluster, and its answer. Blocks.
#pragma once

#include <string>
#include <string_view>

#include "deploy/local/probe.hpp"
#include "deploy/local/record.hpp"

namespace lockmark::local {

// The time-out for an answer of Redis or ZooKeeper.
inline constexpr duration patience = std::chrono::seconds{2};

// Judges of Redis replies: of INFO replication; of a one-line reply or an error; of a bulk string,
// "$SIZE\r\n...\r\n".
verdict judge_info(std::string_view answer);
verdict judge_line(std::string_view answer);
verdict judge_bulk(std::string_view answer);

// MariaDB's output for these statements, within ten seconds; empty if it failed. Uses root's
// socket, which needs no password.
std::string ask_mariadb(const cluster_info& cluster, const server_info& server,
                        std::string_view statements);

}  // namespace lockmark::local
