// The socket below the C client: functions that the library does not offer but the kernel does.
#pragma once

#include <cstdint>
#include <string>

namespace lockmark::zookeeper {

// The local address, without the port; empty if there is none.
std::string address_of(int fd);

// Small sends are held back until push(), or for 200 ms.
void cork(int fd);
void push(int fd);  // -1: does nothing

// The connection's bytes, which the library hides; zero when `fd` is not a TCP socket.
struct tcp_bytes {
  std::uint64_t out = 0;  // acknowledged by the peer
  std::uint64_t in = 0;
};
tcp_bytes count_tcp_bytes(int fd);

// Sends the request to end the session. False: it was not sent completely.
bool send_close_request(int fd);

// Discards received data. False: the peer has closed.
bool still_open(int fd);

}  // namespace lockmark::zookeeper
