// Common to the topologies of MariaDB: accounts, data directories, a server's command line.
#pragma once

#include <string>
#include <vector>

#include "deploy/local/servers.hpp"

namespace lockmark::local {

// The login of a cluster's one user, from loopback only.
struct mariadb_account {
  std::string password = random_password();

  // SQL for creating a data directory: the database and its user. root keeps its empty password,
  // but only through the socket file, in a folder that nobody else can enter.
  // `replica_password`: for replicas, to follow. `is_probed`: by galera_probe.
  std::string sql(const std::string& replica_password = {}, bool is_probed = false) const;
  // "mysql://lockmark:PASSWORD@127.0.0.1:P1,127.0.0.1:P2/lockmark"
  std::string target(std::string_view scheme, const std::vector<server_spec>& servers) const;
};

// A server with its port, probe and limit, and a data directory made from `accounts`, synced.
server_spec mariadb_server(site& where, std::string name, const std::string& accounts);

// A server whose data directory starts as a copy of `original`'s, which must come before it in the
// plan: five times as fast as creating another one.
server_spec mariadb_copy(site& where, std::string name, const server_spec& original);

// Appends to the server's command line: mariadbd and the settings common to all topologies. `id`:
// of one of three servers on one machine, which share its memory; 0: it is alone.
void add_mariadb_words(server_spec& server, const site& where, int id = 0);

// "`mariadb`, as root through the socket of `server`"; the caller appends a statement.
std::vector<std::string> mariadb_client(const site& where, const server_spec& server);

}  // namespace lockmark::local
