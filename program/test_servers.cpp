#include "program/test_servers.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>

namespace lockmark::cli {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// ZooKeeper's four-letter words: it answers and closes.
std::string ask_zookeeper(int port, std::string_view word) {
  const unique_fd s{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const sockaddr_in address = loopback(port);
  if (connect(s.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      write(s.get(), word.data(), word.size()) < 0) {
    throw std::runtime_error("ZooKeeper does not take a question");
  }
  std::string answer;
  char bytes[4096];
  for (ssize_t n = 0; (n = read(s.get(), bytes, sizeof bytes)) > 0;) {
    answer.append(bytes, static_cast<std::size_t>(n));
  }
  return answer;
}

std::string zookeeper_nodes(int port) {
  std::istringstream lines(ask_zookeeper(port, "mntr"));
  std::string counts;
  for (std::string line; std::getline(lines, line);) {
    const bool counted =
        line.starts_with("zk_znode_count") || line.starts_with("zk_ephemerals_count");
    if (counted) counts += fmt::format("{}\n", line);
  }
  return counts;
}

}  // namespace

taken_port::taken_port(bool listening) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (bind(socket_.get(), any, size) != 0 || getsockname(socket_.get(), any, &size) != 0 ||
      (listening && listen(socket_.get(), 128) != 0)) {
    throw std::runtime_error("no port");
  }
  number_ = ntohs(address.sin_port);
}

std::string url_of(const backend& b, int port) {
  const std::string_view scheme = b.topology;
  const bool login = scheme == "mysql" || scheme == "postgres";
  return fmt::format("{}://{}127.0.0.1:{}{}", b.topology, login ? "somebody:hunter2@" : "", port,
                     login ? "/lockmark" : "");
}

std::string state_of(const config::target& server, const std::filesystem::path& where) {
  const int port = server.hosts.at(0).port;
  if (server.scheme == "zookeeper") return zookeeper_nodes(port);
  if (server.scheme == "redis") {
    return output_of({"redis-cli", "-p", fmt::format("{}", port), "KEYS", "*"}, where);
  }
  if (server.scheme == "postgres") {
    return output_of({"psql", "--no-password", "--no-align", "--tuples-only",
                      fmt::format("postgres://{}:{}@127.0.0.1:{}/{}", server.user, server.password,
                                  port, server.path),
                      "--command=SELECT relname FROM pg_class WHERE relname LIKE 'lockmark%' "
                      "UNION SELECT 'advisory locks' FROM pg_locks WHERE locktype = 'advisory'"},
                     where);
  }
  if (server.scheme == "etcd") {
    return output_of(
        {"env", "ETCDCTL_API=3", "etcdctl", fmt::format("--endpoints=127.0.0.1:{}", port), "get",
         "--prefix", "", "--keys-only"},
        where);
  }
  return output_of({"mariadb", "--no-defaults", "--host=127.0.0.1", fmt::format("--port={}", port),
                    fmt::format("--user={}", server.user),
                    fmt::format("--password={}", server.password), "--skip-column-names",
                    "--execute=SELECT table_name FROM information_schema.tables "
                    "WHERE table_schema = DATABASE()",
                    server.path},
                   where);
}

std::string without_progress(const std::string& err) {
  std::istringstream lines(err);
  std::string rest;
  for (std::string line; std::getline(lines, line);) {
    const bool progress = std::ranges::any_of(
        std::array{" measuring ", " connecting", " warming up", " draining", " cleaning up"},
        [&](const char* phase) { return line.find(phase) != std::string::npos; });
    if (!progress) rest += fmt::format("{}\n", line);
  }
  return rest;
}

}  // namespace lockmark::cli
