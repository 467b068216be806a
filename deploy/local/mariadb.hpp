// Common to the topologies of MariaDB: accounts, data directories, a server's command line.
#pragma once

#include <string>
#include <vector>

#include "deploy/local/topology.hpp"

namespace lockmark::local {

// The login of a cluster's one user, from loopback only.
struct mariadb_account {
  std::string password = random_password();

  static std::string random_password();
  // SQL for creating a data directory: the database and its user. root keeps its empty password,
  // but only through the socket file, in a folder that nobody else can enter.
  std::string sql() const;
  // "mysql://lockmark:PASSWORD@127.0.0.1:P1,127.0.0.1:P2/lockmark"
  std::string target(std::string_view scheme, const std::vector<server_spec>& servers) const;
};

// A server with its port, probe and limit, and a data directory made from `accounts`, synced.
server_spec mariadb_server(site& where, std::string name, const std::string& accounts);

// A server whose data directory starts as a copy of `original`'s, which must come before it in the
// plan: five times as fast as creating another one.
server_spec mariadb_copy(site& where, std::string name, const server_spec& original);

// The settings common to all topologies: mariadbd's command line from argv[0] on.
std::vector<std::string> mariadb_command_line(const site& where, const server_spec& server);

// The same for one of three servers on one machine, which share its memory.
std::vector<std::string> small_mariadb_command_line(const site& where, const server_spec& server,
                                                    int server_id);

// "`mariadb`, as root through the socket of `server`"; the caller appends a statement.
std::vector<std::string> mariadb_client(const site& where, const server_spec& server);

}  // namespace lockmark::local
