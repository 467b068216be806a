// What the topologies of MariaDB share: accounts, data directories, the command line of a server.
#pragma once

#include <string>
#include <vector>

#include "deploy/local/topology.hpp"

namespace lockmark::local {

// How the one user of a cluster logs in, from loopback only.
struct mariadb_account {
  std::string password = random_password();

  static std::string random_password();
  // SQL for the making of a data directory: the database and its user. root keeps its empty
  // password, but only through the socket file, which lies where nobody else can enter.
  std::string sql() const;
  // "mysql://lockmark:PASSWORD@127.0.0.1:P1,127.0.0.1:P2/lockmark"
  std::string target(std::string_view scheme, const std::vector<server_spec>& servers) const;
};

// A server with its port, probe and limit, and a data directory made from `accounts`, synced.
server_spec mariadb_server(site& where, std::string name, const std::string& accounts);

// A server whose data directory begins as a copy of `original`'s, which must stand before it in the
// plan: five times as fast as making another one.
server_spec mariadb_copy(site& where, std::string name, const server_spec& original);

// The settings that every server has, whatever its topology: those of mariadbd, from argv[0] on.
std::vector<std::string> mariadb_command_line(const site& where, const server_spec& server);

// The same for one of three servers on one machine, which share its memory.
std::vector<std::string> small_mariadb_command_line(const site& where, const server_spec& server,
                                                    int server_id);

// "`mariadb`, as root through the socket of `server`", to which a statement is added.
std::vector<std::string> mariadb_client(const site& where, const server_spec& server);

}  // namespace lockmark::local
