// Includes <linux/tcp.h>, the only header with a connection's counters. It conflicts with
// <netinet/tcp.h>, which Asio includes: nothing here may include Asio.
#include "drivers/zookeeper/session_socket.hpp"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace lockmark::zookeeper {
namespace {

void set_tcp_option(int fd, int option) {
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, option, &yes, sizeof yes);
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

}  // namespace lockmark::zookeeper
