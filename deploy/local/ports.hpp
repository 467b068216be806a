// Free ports of 127.0.0.1 for the servers of one cluster.
//
// Ports are taken from below the range that the kernel uses for outgoing connections
// (net.ipv4.ip_local_port_range). A server with a port in that range can lose it while it is down,
// to any client that happens to get the number as its own, even to a client that tries to reach
// that very server and thereby connects to itself.
//
// A server takes up to seconds to listen, and may be down for a while. Meanwhile its port is
// reserved for it: by an abstract Unix socket named after the port, which belongs to the same
// network namespace as the port and ends with the process.
#pragma once

#include <map>
#include <optional>
#include <string_view>

#include "harness/unique_fd.hpp"

namespace lockmark::local {

class port_source {
 public:
  // With a first port (1 to 65535): that one and its successors; without: random free ones.
  explicit port_source(std::optional<int> first) : next_(first) {}

  // A port on which nothing listens, reserved for as long as this lives: no other source, of
  // whatever process of this machine, takes it. Throws start_error that names the port if the
  // requested one is not available.
  int take(std::string_view server);

 private:
  // 0 if the port is now taken, else an error number: EADDRINUSE if a server listens on it or it is
  // reserved.
  int try_to_take(int port);
  int take_random(std::string_view server);

  std::optional<int> next_;
  std::map<int, unique_fd> taken_;  // with what reserves it
};

}  // namespace lockmark::local
