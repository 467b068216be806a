// MariaDB three times: a master and two read-only semi-synchronous replicas.
//
// A commit is acknowledged once one replica has it (after-sync: it is not visible before). When the
// master dies, a supervisor promotes a replica; lockmark does not.
#include <fmt/format.h>

#include "deploy/local/mariadb.hpp"
#include "deploy/local/servers.hpp"

namespace lockmark::local {
namespace {

constexpr std::string_view replica_account = R"(
CREATE USER 'replica'@'127.0.0.1' IDENTIFIED BY '{0}';
GRANT REPLICATION SLAVE ON *.* TO 'replica'@'127.0.0.1';
)";

// In a file, because other users could read it on a command line.
constexpr std::string_view follow = R"(CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={},
  MASTER_USER='replica', MASTER_PASSWORD='{}', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1;
START SLAVE;
)";

std::vector<std::string> command_line(const site& where, const server_spec& server, int number) {
  std::vector<std::string> argv = small_mariadb_command_line(where, server, number);
  for (const char* word :
       {"--log-bin=binlog", "--sync-binlog=1", "--log-slave-updates=ON", "--gtid-strict-mode=ON",
        "--rpl-semi-sync-slave-enabled=ON", "--rpl-semi-sync-master-wait-point=AFTER_SYNC",
        // How long a master waits for silent replicas before it continues without; the default is
        // 10 s.
        "--rpl-semi-sync-master-timeout=2000"}) {
    argv.emplace_back(word);
  }
  // A promoted replica waits for none: the other replica does not follow it yet.
  argv.push_back(fmt::format("--rpl-semi-sync-master-enabled={}", number == 1 ? "ON" : "OFF"));
  argv.push_back(fmt::format("--read-only={}", number == 1 ? "OFF" : "ON"));
  return argv;
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
  const std::string password = mariadb_account::random_password();
  plan result;
  auto& servers = result.servers;
  servers.push_back(
      mariadb_server(where, "mariadb-1", account.sql() + fmt::format(replica_account, password)));
  for (const int number : {2, 3}) {
    servers.push_back(mariadb_copy(where, fmt::format("mariadb-{}", number), servers[0]));
    server_spec& replica = servers.back();
    replica.files.push_back({where.folder(replica.name) / "follow.sql",
                             fmt::format(follow, servers[0].port, password)});
    result.after_start.push_back(start_replication(where, replica));
  }
  int number = 0;
  for (server_spec& server : servers) {
    server.argv = command_line(where, server, ++number);
    server.peer_ports = {server.port};
  }
  result.after_start.push_back(await_replicas(where, servers[0]));
  result.target = account.target("mysql", servers);
  return result;
}

}  // namespace lockmark::local
