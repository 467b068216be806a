// A file of its own because <linux/tcp.h>, the only header with these counters, conflicts with
// <netinet/tcp.h>.
#include "drivers/zookeeper/tcp_bytes.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace lockmark::zookeeper {

tcp_bytes count_tcp_bytes(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  return {info.tcpi_bytes_acked, info.tcpi_bytes_received};
}

}  // namespace lockmark::zookeeper
