// MariaDB as a local server: a fresh data directory, one user, durable commits.
#include "deploy/local/mariadb.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <random>

#include "deploy/local/servers.hpp"

namespace lockmark::local {
namespace {

// mariadbd refuses to run as root unless told to.
void allow_root(std::vector<std::string>& argv) {
  if (geteuid() == 0) argv.push_back("--user=root");
}

command make_data_directory(const site& where, const std::string& server) {
  const std::filesystem::path folder = where.folder(server);
  command install;
  install.purpose = fmt::format("create the data directory of {}", server);
  install.argv = {
      where.program("mariadb-install-db", "mariadb-server"),
      "--no-defaults",
      fmt::format("--datadir={}", (folder / "data").string()),
      "--auth-root-authentication-method=normal",
      "--skip-test-db",
      "--skip-name-resolve",
      // No account for this machine's host name.
      "--cross-bootstrap",
      fmt::format("--extra-file={}", (folder / "accounts.sql").string()),
      // Only while creating the directory: its thousand syncs take seconds, and one sync afterwards
      // is as good (see below). The server itself syncs.
      "--debug-no-sync",
  };
  allow_root(install.argv);
  // mariadbd 10.11 sometimes crashes here on a busy machine.
  install.tries = 3;
  install.makes = folder / "data";
  return install;
}

// Dirty pages left from creating the directory must not be written back during a run.
command sync_data_directory(const site& where, const std::string& server) {
  const std::string data = (where.folder(server) / "data").string();
  return {fmt::format("sync the data directory of {}", server),
          {where.program("sync", "coreutils"), "--file-system", data}};
}

}  // namespace

// Letters and digits only, so that it needs no escaping in SQL or in a URL. 24 of 62: 142 bits.
std::string mariadb_account::random_password() {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::uniform_int_distribution<std::size_t> any(0, letters.size() - 1);
  std::string password;
  for (int i = 0; i < 24; ++i) password += letters[any(random)];
  return password;
}

std::string mariadb_account::sql() const {
  return fmt::format(R"(FLUSH PRIVILEGES;
CREATE DATABASE lockmark;
CREATE USER 'lockmark'@'127.0.0.1' IDENTIFIED BY '{}';
GRANT ALL ON lockmark.* TO 'lockmark'@'127.0.0.1';
DROP USER IF EXISTS 'root'@'127.0.0.1';
DROP USER IF EXISTS 'root'@'::1';
)",
                     password);
}

std::string mariadb_account::target(std::string_view scheme,
                                    const std::vector<server_spec>& servers) const {
  std::string hosts;
  for (const server_spec& server : servers) {
    hosts += fmt::format("{}127.0.0.1:{}", hosts.empty() ? "" : ",", server.port);
  }
  return fmt::format("{}://lockmark:{}@{}/lockmark", scheme, password, hosts);
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

std::vector<std::string> mariadb_command_line(const site& where, const server_spec& server) {
  const std::filesystem::path folder = where.folder(server.name);
  std::vector<std::string> argv = {
      where.program("mariadbd", "mariadb-server"),
      // Nothing from /etc/mysql: the same server on every machine.
      "--no-defaults",
      fmt::format("--datadir={}", (folder / "data").string()),
      fmt::format("--tmpdir={}", folder.string()),
      // Relative to the data directory, since the path of a socket has at most 107 bytes.
      "--socket=mariadb.sock",
      "--pid-file=mariadb.pid",
      fmt::format("--port={}", server.port),
      "--bind-address=127.0.0.1",
      "--skip-name-resolve",
      "--max-connections=2000",
      // For thousands of clients that connect at once.
      "--back-log=2000",
      // The creation of a thread per connection would show up as latency of the first statement.
      "--thread-cache-size=256",
      // The defaults, stated because they determine the cost of a row lock: every commit is synced.
      // The binary log, off by default, would add a second sync.
      "--innodb-flush-log-at-trx-commit=1",
      "--skip-log-bin",
      // Small, like the tables of locks.
      "--innodb-buffer-pool-size=128M",
  };
  allow_root(argv);
  return argv;
}

std::vector<std::string> small_mariadb_command_line(const site& where, const server_spec& server,
                                                    int server_id) {
  std::vector<std::string> argv = mariadb_command_line(where, server);
  for (const char* word : {"--innodb-buffer-pool-size=48M", "--innodb-log-file-size=16M",
                           "--aria-pagecache-buffer-size=8M", "--key-buffer-size=1M"}) {
    argv.emplace_back(word);
  }
  argv.push_back(fmt::format("--server-id={}", server_id));
  return argv;
}

std::vector<std::string> mariadb_client(const site& where, const server_spec& server) {
  // The path is relative to the cluster's directory, where commands run: see the limit above.
  return {where.program("mariadb", "mariadb-client-core"), "--no-defaults", "--user=root",
          fmt::format("--socket={}/data/mariadb.sock", server.name)};
}

plan single_mariadb(site& where) {
  const mariadb_account account;
  plan result;
  result.servers.push_back(mariadb_server(where, "mariadb", account.sql()));
  result.servers[0].argv = mariadb_command_line(where, result.servers[0]);
  result.target = account.target("mysql", result.servers);
  return result;
}

}  // namespace lockmark::local
