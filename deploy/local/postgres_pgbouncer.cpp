// PostgreSQL behind pgbouncer, which lends the server's sessions to its clients for a transaction
// at a time, as in front of many web applications.
#include <fmt/format.h>

#include "deploy/local/postgres.hpp"
#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"

namespace lockmark::local {

plan pooled_postgres(site& where) {
  const postgres_account account;
  plan result;
  server_spec server = postgres_server(where, "postgres", account);
  add_postgres_words(server, where);

  server_spec pooler;
  pooler.name = "pgbouncer";
  pooler.port = where.ports.take(pooler.name);
  pooler.ready = postgres_probe();
  pooler.stop_signal = SIGINT;
  const std::filesystem::path folder = where.folder(pooler.name);
  pooler.files.push_back(
      {folder / "users", fmt::format("\"lockmark\" \"{}\"\n", account.password)});
  pooler.files.push_back(
      {folder / "pgbouncer.ini",
       filled("pgbouncer",
              {{"folder", folder.string()}, {"port", pooler.port}, {"server", server.port}})});
  pooler.prepare = give_away(where, pooler.name);
  pooler.argv = unprivileged(
      where, {where.program("pgbouncer", "pgbouncer"), (folder / "pgbouncer.ini").string()});

  result.after_start.push_back(make_accounts(where, server));
  result.target = account.target({&pooler, 1});
  result.servers.push_back(std::move(server));
  result.servers.push_back(std::move(pooler));
  return result;
}

}  // namespace lockmark::local
