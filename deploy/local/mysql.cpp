// MySQL as a local server: a fresh data directory, one user, durable commits.
#include <fmt/format.h>
#include <unistd.h>

#include "deploy/local/mariadb.hpp"
#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"

namespace lockmark::local {

plan single_mysql(site& where) {
  const mariadb_account account;
  server_spec server;
  server.name = "mysql";
  server.port = where.ports.take(server.name);
  server.ready = mariadb_probe();
  server.time_limit = std::chrono::seconds{60};
  const std::filesystem::path folder = where.folder(server.name);
  const json settings{
      {"folder", folder.string()}, {"port", server.port}, {"is_root", geteuid() == 0}};

  server.files.push_back({folder / "accounts.sql", account.sql()});
  const std::string mysqld = where.program("mysqld", "mysql-server-core");
  command install{"create the data directory of mysql", {mysqld}};
  add_words(install.argv, "mysql_install", settings);
  // Its thousand syncs cannot be left out.
  install.time_limit = std::chrono::seconds{180};
  server.prepare.push_back(std::move(install));
  server.prepare.push_back(sync_data_directory(where, server.name));
  server.argv = {mysqld};
  add_words(server.argv, "mysql", settings);

  plan result;
  result.servers.push_back(std::move(server));
  result.target = account.target("mysql", result.servers);
  return result;
}

}  // namespace lockmark::local
