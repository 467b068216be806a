// The kernel's count of a TCP connection's bytes, for libraries that hide their own.
#pragma once

#include <cstdint>

namespace lockmark::zookeeper {

struct tcp_bytes {
  std::uint64_t out = 0;  // acknowledged by the peer
  std::uint64_t in = 0;
};

// Zero when `fd` is not a TCP socket.
tcp_bytes count_tcp_bytes(int fd);

}  // namespace lockmark::zookeeper
