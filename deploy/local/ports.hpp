// Free ports of 127.0.0.1 for the servers of one cluster.
//
// Ports are taken from below the range that the kernel uses for outgoing connections
// (net.ipv4.ip_local_port_range). A server with a port in that range can lose it while it is down,
// to any client that happens to get the number as its own, even to a client that tries to reach
// that very server and thereby connects to itself.
#pragma once

#include <optional>
#include <set>
#include <string_view>

namespace lockmark::local {

class port_source {
 public:
  // With a first port (1 to 65535): that one and its successors; without: random free ones.
  explicit port_source(std::optional<int> first) : next_(first) {}

  // A port on which nothing listened a moment ago, different from those taken before. Throws
  // start_error that names the port if the requested one is not available.
  int take(std::string_view server);

 private:
  int take_random(std::string_view server);

  std::optional<int> next_;
  std::set<int> taken_;
};

}  // namespace lockmark::local
