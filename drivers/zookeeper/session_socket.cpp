// Includes <linux/tcp.h>, the only header with a connection's counters. It conflicts with
// <netinet/tcp.h>, which Asio includes: nothing here may include Asio.
#include "drivers/zookeeper/session_socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace lockmark::zookeeper {
namespace {

void set_tcp_option(int fd, int option) {
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, option, &yes, sizeof yes);
}

// True if no more data will arrive.
bool has_ended(int fd) {
  pollfd p{fd, POLLRDHUP, 0};
  return poll(&p, 1, 0) > 0;
}

}  // namespace

std::string address_of(int fd) {
  sockaddr_storage here{};
  socklen_t size = sizeof here;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&here), &size) != 0) return "";
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* address =
      here.ss_family == AF_INET6
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(&here)->sin6_addr)
          : &reinterpret_cast<const sockaddr_in*>(&here)->sin_addr;
  return inet_ntop(here.ss_family, address, text.data(), text.size()) == nullptr ? "" : text.data();
}

void cork(int fd) {
  set_tcp_option(fd, TCP_CORK);
}

// Setting TCP_NODELAY sends the corked data and leaves the cork in place (tcp(7)).
void push(int fd) {
  if (fd != -1) set_tcp_option(fd, TCP_NODELAY);
}

tcp_bytes count_tcp_bytes(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  return {info.tcpi_bytes_acked, info.tcpi_bytes_received};
}

bool send_close_request(int fd) {
  // Length, request number, closeSession (-11).
  constexpr std::array<unsigned char, 12> request{0,    0,    0,    8,    0x7F, 0xFF,
                                                  0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xF5};
  return ::send(fd, request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(request.size());
}

bool still_open(int fd) {
  std::array<char, 4096> ignored;
  const ssize_t size = ::recv(fd, ignored.data(), ignored.size(), MSG_DONTWAIT);
  return size > 0 || (size < 0 && errno == EAGAIN);
}

void inbox::wait_for(int fd, int bytes) {
  if (low_water_ == bytes) return;
  setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes);
  low_water_ = bytes;
}

inbox::sight inbox::look(int fd, std::optional<body> awaited) {
  std::size_t wanted = 4;
  while (true) {
    const ssize_t n = recv(fd, bytes_.data(), bytes_.size(), MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return sight::nothing;
    if (n <= 0) return sight::whole;
    const auto seen = std::string_view{bytes_}.substr(0, static_cast<std::size_t>(n));
    if (const auto length = frame_length(seen)) {
      if (*length < 0 || *length > static_cast<std::int64_t>(frame_limit)) {
        wrong_ = fmt::format("a message of {} bytes", *length);
        return sight::wrong;
      }
      wanted = std::max(wanted, static_cast<std::size_t>(*length));
    }
    if (seen.size() >= wanted) {
      wait_for(fd, 1);
      wrong_ = wrong_in(seen.substr(0, wanted), awaited);
      return wrong_.empty() ? sight::whole : sight::wrong;
    }
    if (bytes_.size() >= wanted) break;
    bytes_.resize(wanted);
  }
  wait_for(fd, static_cast<int>(wanted));
  return has_ended(fd) ? sight::whole : sight::part;
}

void cut(int fd) {
  ::shutdown(fd, SHUT_RDWR);
  std::array<char, 65536> dropped;
  while (recv(fd, dropped.data(), dropped.size(), MSG_DONTWAIT) > 0) {
  }
}

}  // namespace lockmark::zookeeper
