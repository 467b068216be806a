// Looks at what has arrived on a socket before the C client reads it there, so that it only ever
// reads whole messages which are what was asked for. Costs one system call a message.
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

  // What was wrong.
  const std::string& wrong() const { return wrong_; }

  // For a new connection.
  void forget() { low_water_ = 1; }

 private:
  void wait_for(int fd, int bytes);

  std::string bytes_ = std::string(4096, '\0');
  int low_water_ = 1;  // below it the socket is not readable
  std::string wrong_;
};

// Ends the connection, and drops what has arrived: whoever reads next sees the end.
void cut(int fd);

}  // namespace lockmark::zookeeper
