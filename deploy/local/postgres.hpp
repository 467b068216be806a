// Common to the topologies of PostgreSQL: accounts, data directories, a server's command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "deploy/local/servers.hpp"

namespace lockmark::local {

// The logins of a cluster, from loopback only.
struct postgres_account {
  std::string password = random_password();   // of the one user
  std::string superuser = random_password();  // of "postgres"
  std::string replica_password = {};          // for standbys, to follow; empty: no such user

  // "postgres://lockmark:PASSWORD@127.0.0.1:P1,127.0.0.1:P2/lockmark"
  std::string target(std::span<const server_spec> servers) const;
};

// A program of the same version as the server that is found here.
std::string postgres_program(const site& where, std::string_view name);

// The words before those of a program that refuses to run as root: another user's. None for others.
std::vector<std::string> unprivileged(const site& where, std::vector<std::string> words);
// Lets that user have a server's folder; comes first in its preparation. None for others.
std::vector<command> give_away(const site& where, const std::string& server);

// A server with its port, probe and limit, and a fresh data directory, synced.
server_spec postgres_server(site& where, std::string name, const postgres_account& account);

// A server whose data directory starts as a copy of `original`'s, which must come before it in the
// plan.
server_spec postgres_copy(site& where, std::string name, const server_spec& original,
                          const postgres_account& account);

// Appends the server and its settings. `is_member`: of a topology with standbys.
void add_postgres_words(server_spec& server, const site& where, bool is_member = false);

// psql as the superuser of `server`, with the file or statement that the caller appends.
std::vector<std::string> postgres_client(const site& where, const server_spec& server);

// Once it runs: the database and its users.
command make_accounts(const site& where, const server_spec& server);

}  // namespace lockmark::local
