// The bytes that have passed through a TCP connection, as the kernel counts them. libpq does not.
#pragma once

#include <cstdint>

namespace lockmark::postgres {

struct wire_bytes {
  std::uint64_t in = 0;
  std::uint64_t out = 0;  // acknowledged by the peer
};

// Nothing for a descriptor that is no TCP connection. One system call.
wire_bytes bytes_through(int fd);

}  // namespace lockmark::postgres
