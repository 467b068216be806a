#include "deploy/local/ports.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <random>

#include "deploy/local/error.hpp"
#include "deploy/local/process.hpp"

namespace lockmark::local {
namespace {

constexpr int lowest_random_port = 10'000;

// None, with errno set, if another source has reserved it.
unique_fd reserve(int port) {
  unique_fd socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!socket) return socket;
  const std::string name = fmt::format("lockmark/port/{}", port);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);  // after 0: abstract
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return {};
  return socket;
}

// 0 if a server could listen on the port, else the error number of bind() or listen().
int try_port(int port) {
  const unique_fd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const int on = 1;  // like the servers: lingering connections do not count as in use
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return errno;
  }
  return listen(socket.get(), 1) == 0 ? 0 : errno;
}

int first_outgoing_port() {
  int low = 0;
  std::ifstream in("/proc/sys/net/ipv4/ip_local_port_range");
  return in >> low && low > lowest_random_port + 1000 ? low : 32'768;
}

}  // namespace

int port_source::take(std::string_view server) {
  if (!next_) return take_random(server);
  const int port = *next_;
  ++*next_;
  if (port < 1 || port > 65'535) {
    throw start_error(fmt::format("{} cannot listen on port {}: a port is a number from 1 to 65535",
                                  server, port));
  }
  const int error = try_to_take(port);
  if (error == EADDRINUSE) {
    throw start_error(fmt::format(
        "port {} of 127.0.0.1 is already taken, so {} cannot listen on it; name another "
        "port or let a free one be chosen",
        port, server));
  }
  if (error != 0) {
    throw start_error(fmt::format("{} cannot listen on port {} of 127.0.0.1: {}", server, port,
                                  std::strerror(error)));
  }
  return port;
}

int port_source::try_to_take(int port) {
  unique_fd reserved = reserve(port);
  if (!reserved) return errno;
  if (const int error = try_port(port)) return error;
  taken_.emplace(port, std::move(reserved));
  return 0;
}

int port_source::take_random(std::string_view server) {
  std::random_device random;
  std::uniform_int_distribution<int> any(lowest_random_port, first_outgoing_port() - 1);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const int port = any(random);
    if (try_to_take(port) == 0) return port;
  }
  throw start_error(fmt::format("no free port of 127.0.0.1 was found for {}", server));
}

}  // namespace lockmark::local
