// MariaDB as a local server: a data directory made on the spot, one user, durable commits.
#include <fmt/format.h>
#include <unistd.h>

#include <random>

#include "deploy/local/servers.hpp"

namespace lockmark::local {
namespace {

// Letters and digits only, so that it needs no escaping in SQL or in a URL. 24 of 62: 142 bits.
std::string random_password() {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::uniform_int_distribution<std::size_t> any(0, letters.size() - 1);
  std::string password;
  for (int i = 0; i < 24; ++i) password += letters[any(random)];
  return password;
}

// One user, from loopback only. root keeps its empty password, but only through the socket file,
// which lies in a directory that nobody else can enter.
std::string accounts(const std::string& password) {
  return fmt::format(R"(FLUSH PRIVILEGES;
CREATE DATABASE lockmark;
CREATE USER 'lockmark'@'127.0.0.1' IDENTIFIED BY '{}';
GRANT ALL ON lockmark.* TO 'lockmark'@'127.0.0.1';
DROP USER IF EXISTS 'root'@'127.0.0.1';
DROP USER IF EXISTS 'root'@'::1';
)",
                     password);
}

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
      // Only for the making of the directory, which nobody needs after a crash: the 4.5 seconds
      // that the syncs of its tables take become 0.7. The server itself syncs.
      "--innodb-flush-method=nosync",
      "--innodb-flush-log-at-trx-commit=0",
      "--skip-innodb-doublewrite",
  };
  allow_root(install.argv);
  return install;
}

std::vector<std::string> command_line(const site& where, const server_spec& server) {
  const std::filesystem::path folder = where.folder(server.name);
  std::vector<std::string> argv = {
      where.program("mariadbd", "mariadb-server"),
      // Nothing of /etc/mysql: the same server on every machine.
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
      // Thousands of clients that connect at once.
      "--back-log=2000",
      // A thread made for every connection would be measured as latency of the first statement.
      "--thread-cache-size=256",
      // The defaults, written down because they are what a lock by row costs: every commit is
      // synced. The binary log, off by default, would add a second sync.
      "--innodb-flush-log-at-trx-commit=1",
      "--skip-log-bin",
      // Small: the tables of locks are.
      "--innodb-buffer-pool-size=128M",
  };
  allow_root(argv);
  return argv;
}

}  // namespace

plan single_mariadb(site& where) {
  server_spec server;
  server.name = "mariadb";
  server.port = where.ports.take(server.name);
  server.ready = mariadb_probe();
  server.time_limit = std::chrono::seconds{60};

  const std::string password = random_password();
  const std::filesystem::path folder = where.folder(server.name);
  server.files.push_back({folder / "accounts.sql", accounts(password)});
  server.prepare.push_back(make_data_directory(where, server.name));
  server.argv = command_line(where, server);

  plan result;
  result.target = fmt::format("mysql://lockmark:{}@127.0.0.1:{}/lockmark", password, server.port);
  result.servers.push_back(std::move(server));
  return result;
}

}  // namespace lockmark::local
