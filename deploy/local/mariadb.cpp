// MariaDB as a local server: a fresh data directory, one user, durable commits.
#include "deploy/local/mariadb.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"

namespace lockmark::local {
namespace {

command make_data_directory(const site& where, const std::string& server) {
  const std::filesystem::path folder = where.folder(server);
  command install;
  install.purpose = fmt::format("create the data directory of {}", server);
  install.argv = {where.program("mariadb-install-db", "mariadb-server")};
  add_words(install.argv, "mariadb_install",
            {{"folder", folder.string()}, {"is_root", geteuid() == 0}});
  // mariadbd 10.11 sometimes crashes here on a busy machine.
  install.tries = 3;
  install.makes = folder / "data";
  return install;
}

}  // namespace

std::string mariadb_account::sql(const std::string& replica_password, bool is_probed) const {
  return filled(
      "mariadb_accounts",
      {{"password", password}, {"replica_password", replica_password}, {"is_probed", is_probed}});
}

std::string mariadb_account::target(std::string_view scheme,
                                    const std::vector<server_spec>& servers) const {
  return fmt::format("{}://lockmark:{}@{}/lockmark", scheme, password, addresses_of(servers));
}

server_spec mariadb_server(site& where, std::string name, const std::string& accounts) {
  server_spec server;
  server.name = std::move(name);
  server.port = where.ports.take(server.name);
  server.ready = mariadb_probe();
  server.time_limit = std::chrono::seconds{60};
  server.files.push_back({where.folder(server.name) / "accounts.sql", accounts});
  server.prepare.push_back(make_data_directory(where, server.name));
  server.prepare.push_back(sync_data_directory(where, server.name));
  return server;
}

server_spec mariadb_copy(site& where, std::string name, const server_spec& original) {
  server_spec server;
  server.name = std::move(name);
  server.port = where.ports.take(server.name);
  server.ready = original.ready;
  server.time_limit = original.time_limit;
  const std::filesystem::path from = where.folder(original.name) / "data";
  const std::filesystem::path to = where.folder(server.name) / "data";
  server.prepare.push_back(
      {fmt::format("copy the data directory of {}", original.name),
       {where.program("cp", "coreutils"), "--recursive", from.string(), to.string()}});
  server.prepare.push_back(sync_data_directory(where, server.name));
  return server;
}

void add_mariadb_words(server_spec& server, const site& where, int id) {
  server.argv.push_back(where.program("mariadbd", "mariadb-server"));
  add_words(server.argv, "mariadb",
            {{"folder", where.folder(server.name).string()},
             {"port", server.port},
             {"is_root", geteuid() == 0},
             {"id", id}});
}

std::vector<std::string> mariadb_client(const site& where, const server_spec& server) {
  // The path is relative to the cluster's directory, where commands run: see the limit in
  // mariadb.mustache.
  return {where.program("mariadb", "mariadb-client-core"), "--no-defaults", "--user=root",
          fmt::format("--socket={}/data/mariadb.sock", server.name)};
}

plan single_mariadb(site& where) {
  const mariadb_account account;
  plan result;
  result.servers.push_back(mariadb_server(where, "mariadb", account.sql()));
  add_mariadb_words(result.servers[0], where);
  result.target = account.target("mysql", result.servers);
  return result;
}

}  // namespace lockmark::local
