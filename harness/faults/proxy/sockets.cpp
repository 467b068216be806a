#include "harness/faults/proxy/sockets.hpp"

#include <fmt/format.h>
#include <netdb.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace lockmark::faults {

address resolve(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string service = fmt::format("{}", port);
  const int error = getaddrinfo(host.c_str(), service.c_str(), &hints, &found);
  if (error != 0) {
    throw std::runtime_error(
        fmt::format("the host '{}' is unknown: {}", host, gai_strerror(error)));
  }
  address first;
  std::memcpy(&first.bytes, found->ai_addr, found->ai_addrlen);
  first.size = found->ai_addrlen;
  freeaddrinfo(found);
  return first;
}

void set_option(int socket, int level, int name, int value) {
  setsockopt(socket, level, name, &value, sizeof value);
}

void abort_at_close(int socket) {
  const linger at_once{1, 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace lockmark::faults
