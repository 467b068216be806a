// One question to one server of a local cluster, and its answer. Blocks.
#pragma once

#include <string>
#include <string_view>

#include "deploy/local/probe.hpp"
#include "deploy/local/record.hpp"

namespace lockmark::local {

// How long an answer of Redis or ZooKeeper is waited for.
inline constexpr duration patience = std::chrono::seconds{2};

// Judges of replies of Redis: of INFO replication; of one that fits into one line, or an error; of
// a text, "$SIZE\r\n...\r\n".
verdict judge_info(std::string_view answer);
verdict judge_line(std::string_view answer);
verdict judge_bulk(std::string_view answer);

// What MariaDB answers to these statements, ten seconds at most; empty where it failed. Through the
// socket of root, which needs no password.
std::string ask_mariadb(const cluster_info& cluster, const server_info& server,
                        std::string_view statements);

}  // namespace lockmark::local
