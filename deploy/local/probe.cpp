#include "deploy/local/probe.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>

#include "deploy/local/process.hpp"

namespace lockmark::local {
namespace {

verdict judge_redis(std::string_view answer) {
  if (answer.find("\r\n") == std::string_view::npos) return verdict::more;
  return answer.starts_with("+PONG") ? verdict::ready : verdict::not_yet;  // or -LOADING
}

verdict judge_zookeeper(std::string_view answer) {
  const std::size_t mode = answer.find("Mode: ");
  const bool whole = mode != std::string_view::npos && answer.find('\n', mode) != answer.npos;
  return whole ? verdict::ready : verdict::more;  // "not currently serving" ends without a mode
}

// A whole answer by HTTP/1, with a length; ready if it is a success.
verdict judge_http(std::string_view answer) {
  constexpr std::string_view length = "Content-Length: ";
  const auto end = answer.find("\r\n\r\n");
  const auto at = answer.find(length);
  if (end == answer.npos) return verdict::more;
  if (at >= end || !answer.starts_with("HTTP/1.")) return verdict::not_yet;
  std::size_t size = 0;
  std::from_chars(answer.data() + at + length.size(), answer.data() + end, size);
  if (answer.size() < end + 4 + size) return verdict::more;
  return answer.substr(0, answer.find('\r')).find(" 200") != answer.npos ? verdict::ready
                                                                         : verdict::not_yet;
}

// A packet is a length of three bytes, a number, and the payload: 10 begins a handshake, 255 an
// error such as "too many connections".
verdict judge_mariadb(std::string_view answer) {
  constexpr std::size_t header_size = 4;
  if (answer.size() <= header_size) return verdict::more;
  return answer[header_size] == 10 ? verdict::ready : verdict::not_yet;
}

// A packet of MariaDB's protocol, of less than 64 KiB.
std::string packet(char number, std::string_view payload) {
  const auto size = static_cast<unsigned>(payload.size());
  return fmt::format("{}{}{}{}{}", static_cast<char>(size & 0xff), static_cast<char>(size >> 8),
                     '\0', number, payload);
}

// Sent without waiting for the server's greeting: without a password it does not depend on it.
std::string galera_question() {
  using namespace std::string_literals;
  const std::string login = packet(1,
                                   "\x01\x82\x08\0"s  // long password, protocol 4.1, plugins
                                   "\0\0\0\x01\x21"s  // longest packet; utf8
                                       + std::string(23, '\0') +
                                       "probe\0"s  // the user, and an empty password
                                       "\0mysql_native_password\0"s);
  return login + packet(0, "\x03SHOW STATUS LIKE 'wsrep_ready'");
}

// Finds the only row of the answer: two strings, each preceded by its length.
verdict judge_galera(std::string_view answer) {
  constexpr std::size_t header_size = 4;
  if (answer.size() > header_size && answer[header_size] != 10) return verdict::not_yet;
  if (answer.find("\x0bwsrep_ready\x02ON") != answer.npos) return verdict::ready;
  if (answer.find("\x0bwsrep_ready\x03OFF") != answer.npos) return verdict::not_yet;
  return verdict::more;
}

// A message of its own length, of protocol 3.0: parameters as names and values.
std::string postgres_question() {
  using namespace std::string_literals;
  const std::string login = "\0\x03\0\0user\0probe\0database\0postgres\0\0"s;
  return "\0\0\0"s + static_cast<char>(login.size() + 4) + login;
}

// 'R' asks for authentication; 'E' is an error, such as "the database system is starting up".
verdict judge_postgres(std::string_view answer) {
  if (answer.empty()) return verdict::more;
  return answer[0] == 'R' ? verdict::ready : verdict::not_yet;
}

bool wait_for(const unique_fd& socket, short events, time_point deadline) {
  pollfd watched{socket.get(), events, 0};
  return poll(&watched, 1, left_ms(deadline)) > 0;
}

unique_fd connect_to(int port, time_point deadline) {
  unique_fd connection{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (connect(connection.get(), generic, sizeof address) == 0) return connection;
  if (errno != EINPROGRESS || !wait_for(connection, POLLOUT, deadline)) return {};
  return connection;
}

}  // namespace

probe redis_probe() {
  return {"PING\r\n", judge_redis};
}
probe zookeeper_probe() {
  return {"srvr", judge_zookeeper};
}
probe etcd_probe() {
  return {"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", judge_http};
}
probe etcd_status_probe() {
  return {"POST /v3/maintenance/status HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}",
          judge_http};
}
probe mariadb_probe() {
  return {"", judge_mariadb};
}
probe galera_probe() {
  return {galera_question(), judge_galera};
}
probe postgres_probe() {
  return {postgres_question(), judge_postgres};
}

std::string answer_of(const probe& ask, int port, duration time_limit) {
  const time_point deadline = real_clock{}.now() + time_limit;
  const unique_fd connection = connect_to(port, deadline);
  if (!connection) return {};
  const auto size = static_cast<ssize_t>(ask.question.size());
  if (send(connection.get(), ask.question.data(), ask.question.size(), MSG_NOSIGNAL) != size) {
    return {};
  }
  std::string answer;
  while (wait_for(connection, POLLIN, deadline)) {
    char bytes[1024];
    const ssize_t count = recv(connection.get(), bytes, sizeof bytes, 0);
    if (count <= 0) return {};
    answer.append(bytes, static_cast<std::size_t>(count));
    const verdict said = ask.judge(answer);
    if (said != verdict::more) return said == verdict::ready ? answer : std::string{};
  }
  return {};
}

bool answers(const probe& ask, int port, duration time_limit) {
  return !answer_of(ask, port, time_limit).empty();
}

}  // namespace lockmark::local
