// The bytes that a TCP socket has carried, as the kernel counts them.
#pragma once

#include <cstdint>

namespace lockmark::mysql {

// Without headers of packets and what was sent again. Both 0: it is no TCP socket.
struct socket_bytes {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};

// One system call.
socket_bytes bytes_of(int fd);

}  // namespace lockmark::mysql
