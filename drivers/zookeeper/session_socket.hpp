// The socket below the C client: functions that the library does not offer but the kernel does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "drivers/zookeeper/frames.hpp"

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

// Ends the connection and drops what has arrived: the next read sees the end.
void cut(int fd);

// Inspects the data on a socket before the C client reads it, so that the client only reads
// complete messages that match their requests. Costs one system call per message.
class inbox {
 public:
  enum class sight {
    nothing,
    part,   // of a message; the socket is readable again once all of it is there
    whole,  // a message, or the end of the connection
    wrong,  // a message that no server sends
  };

  sight look(int fd, std::optional<body> awaited);

  // The fault of the last wrong message.
  const std::string& wrong() const { return wrong_; }

  // For a new connection.
  void forget() { low_water_ = 1; }

 private:
  void wait_for(int fd, int bytes);

  std::string bytes_ = std::string(4096, '\0');
  int low_water_ = 1;  // the socket is not readable below it
  std::string wrong_;
};

}  // namespace lockmark::zookeeper
