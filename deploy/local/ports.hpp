// Free ports of 127.0.0.1 for the servers of one cluster.
//
// Ports are taken from below the range from which the kernel numbers outgoing connections
// (net.ipv4.ip_local_port_range). A server on a port of that range can be locked out of it while
// it is down, by any client that happens to be given the number as its own, even by a client that
// tries to reach that very server and thereby connects to itself.
#pragma once

#include <optional>
#include <set>
#include <string_view>

namespace lockmark::local {

class port_source {
 public:
  // With a first port (1 to 65535) the ports taken are that one and those that follow it; without
  // one they are random free ones.
  explicit port_source(std::optional<int> first) : next_(first) {}

  // A port on which nothing listened a moment ago, different from those taken before. Throws
  // start_error naming the port when the one that was asked for is not to be had.
  int take(std::string_view server);

 private:
  int take_random(std::string_view server);

  std::optional<int> next_;
  std::set<int> taken_;
};

}  // namespace lockmark::local
