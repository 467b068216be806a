// The masters of a Redis Cluster and their slots, as the Cluster last told them, and the
// redirections by nodes that do not serve a slot. Values only: topology_cache.hpp does the asking.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "drivers/redis/resp.hpp"
#include "harness/config/target.hpp"

namespace lockmark::redis {

using config::host_port;

// "MOVED 3999 127.0.0.1:6381": ask there from now on. "ASK ...": ask there this time.
struct redirection {
  enum class kind : std::uint8_t { moved, ask };
  kind what = kind::moved;
  std::uint16_t slot = 0;
  host_port to;

  bool operator==(const redirection&) const = default;
};

// Nothing for any other text. A node that does not know its own name leaves the host out (":6381"):
// then it is `asked`, the node that sent the error.
std::optional<redirection> parse_redirection(std::string_view error, const host_port& asked);

class cluster_map {
 public:
  // Reads `asked`'s answer to CLUSTER SLOTS; `nat` translates addresses to those reached from here.
  // False, and nothing changes, if it is no such answer or gives a slot to two masters.
  using translation = std::map<host_port, host_port>;
  bool read(const reply& slots, const host_port& asked, const translation& nat = {});

  // Null: unknown.
  const host_port* master_of(std::uint16_t slot) const;
  // Every master with slots, once each.
  const std::vector<host_port>& masters() const { return masters_; }

  // Follows a redirection, until the next read().
  void move(std::uint16_t slot, const host_port& to);

 private:
  struct range {
    std::uint16_t first = 0;
    std::uint16_t last = 0;
    std::size_t master = 0;
  };
  std::size_t index_of(const host_port& master);

  std::vector<host_port> masters_;
  std::vector<range> ranges_;  // ascending, without overlaps
  std::vector<range> moved_;   // takes precedence
};

}  // namespace lockmark::redis
