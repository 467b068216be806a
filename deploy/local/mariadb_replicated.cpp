// MariaDB three times: a master and two read-only semi-synchronous replicas.
//
// A commit is acknowledged once one replica has it (after-sync: it is not visible before). When the
// master dies, a supervisor promotes a replica; lockmark does not.
#include <fmt/format.h>

#include "deploy/local/mariadb.hpp"
#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"

namespace lockmark::local {
namespace {

void add_replication_words(server_spec& server, const site& where, int number) {
  add_mariadb_words(server, where, number);
  add_words(server.argv, "mariadb_replicated", {{"is_master", number == 1}});
}

command start_replication(const site& where, const server_spec& replica) {
  command c{fmt::format("let {} replicate", replica.name), mariadb_client(where, replica)};
  c.argv.push_back(fmt::format("--execute=source {}/follow.sql", replica.name));
  return c;
}

// Otherwise the first commit would wait for a replica that is still connecting, or be acknowledged
// without any.
command await_replicas(const site& where, const server_spec& master) {
  std::string ask;
  for (const std::string& word : mariadb_client(where, master)) ask += fmt::format("'{}' ", word);
  const std::string loop = fmt::format(
      "until {} --silent --skip-column-names --execute=\"SHOW STATUS LIKE "
      "'Rpl_semi_sync_master_clients'\" | grep -q '2$'; do sleep 0.05; done",
      ask);
  return {"see two replicas at the master", {where.program("sh", "dash"), "-c", loop}};
}

}  // namespace

plan replicated_mariadb(site& where) {
  const mariadb_account account;
  const std::string password = random_password();
  plan result;
  auto& servers = result.servers;
  servers.push_back(mariadb_server(where, "mariadb-1", account.sql(password)));
  for (const int number : {2, 3}) {
    servers.push_back(mariadb_copy(where, fmt::format("mariadb-{}", number), servers[0]));
    server_spec& replica = servers.back();
    // In a file, because other users could read the password on a command line.
    replica.files.push_back(
        {where.folder(replica.name) / "follow.sql",
         filled("mariadb_follow", {{"port", servers[0].port}, {"password", password}})});
    result.after_start.push_back(start_replication(where, replica));
  }
  int number = 0;
  for (server_spec& server : servers) {
    add_replication_words(server, where, ++number);
    server.peer_ports = {server.port};
  }
  result.after_start.push_back(await_replicas(where, servers[0]));
  result.target = account.target("mysql", servers);
  return result;
}

}  // namespace lockmark::local
