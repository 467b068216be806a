#include "drivers/postgres/wire_bytes.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace lockmark::postgres {

wire_bytes bytes_through(int fd) {
  tcp_info known{};
  socklen_t size = sizeof known;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &known, &size) != 0) return {};
  return {.in = known.tcpi_bytes_received, .out = known.tcpi_bytes_acked};
}

}  // namespace lockmark::postgres
