// Inspects the data on a socket before the C client reads it, so that the client only reads
// complete messages that match their requests. Costs one system call per message.
#pragma once

#include <optional>
#include <string>

#include "drivers/zookeeper/frames.hpp"

namespace lockmark::zookeeper {

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

// Ends the connection and drops what has arrived: the next read sees the end.
void cut(int fd);

}  // namespace lockmark::zookeeper
