#include "drivers/mysql/socket_bytes.hpp"

// The C library's netinet/tcp.h has the same structure without the counts, and cannot be included
// beside this; Asio includes it, so this is a file of its own.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace lockmark::mysql {

socket_bytes bytes_of(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  return {info.tcpi_bytes_received, info.tcpi_bytes_sent - info.tcpi_bytes_retrans};
}

}  // namespace lockmark::mysql
