// PostgreSQL three times: a primary and two standbys that stream its log.
//
// A commit is acknowledged once one of the standbys has it on disk. When the primary dies, a
// supervisor promotes a standby; lockmark does not. The other one follows whichever is primary.
#include <fmt/format.h>

#include "deploy/local/postgres.hpp"
#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"
#include "harness/base/lists.hpp"

namespace lockmark::local {
namespace {

// Where a standby looks for its primary: among the others.
void make_standby(const site& where, server_spec& standby, const std::vector<server_spec>& all) {
  std::vector<int> ports;
  for (const server_spec& each : all) {
    if (each.name != standby.name) ports.push_back(each.port);
  }
  const std::filesystem::path folder = where.folder(standby.name);
  const std::string settings = (folder / "standby.conf").string();
  standby.files.push_back(
      {settings, filled("postgres_standby",
                        {{"hosts", joined(
                                       ports, [](int) { return "127.0.0.1"; }, ",")},
                         {"ports", joined(
                                       ports, [](int p) { return std::to_string(p); }, ",")},
                         {"logins", (folder / "logins").string()},
                         {"name", standby.name}})});
  const std::string script =
      fmt::format("cat '{0}' >>'{1}/postgresql.conf' && touch '{1}/standby.signal'", settings,
                  (folder / "data").string());
  standby.prepare.push_back({fmt::format("make {} a standby", standby.name),
                             unprivileged(where, {where.program("sh", "dash"), "-c", script})});
}

// Otherwise the first commit would wait for a standby that is still connecting, and the first
// promotion find no database.
command await_standbys(const site& where, const server_spec& primary) {
  std::string ask;
  for (const std::string& word : postgres_client(where, primary)) ask += fmt::format("'{}' ", word);
  const std::string loop = fmt::format(
      "until {} --command=\"SELECT count(*) FROM pg_stat_replication "
      "WHERE replay_lsn >= pg_current_wal_lsn()\" "
      "| grep -q '^2$'; do sleep 0.05; done",
      ask);
  return {"see two standbys at the primary", {where.program("sh", "dash"), "-c", loop}};
}

}  // namespace

plan replicated_postgres(site& where) {
  const postgres_account account{.replica_password = random_password()};
  plan result;
  auto& servers = result.servers;
  servers.push_back(postgres_server(where, "postgres-1", account));
  for (const int number : {2, 3}) {
    servers.push_back(
        postgres_copy(where, fmt::format("postgres-{}", number), servers[0], account));
  }
  for (server_spec& server : servers) {
    add_postgres_words(server, where, true);
    if (server.name != servers[0].name) make_standby(where, server, servers);
  }
  result.after_start.push_back(make_accounts(where, servers[0]));
  result.after_start.push_back(await_standbys(where, servers[0]));
  result.target = account.target(servers);
  return result;
}

}  // namespace lockmark::local
