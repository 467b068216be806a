// Five independent Redis masters, for locks that need a majority of them.
#include <fmt/format.h>

#include "deploy/local/servers.hpp"

namespace lockmark::local {

// Five, as on Redis's page on distributed locks: two of them may fail.
plan redis_independent(site& where) {
  plan result;
  std::string hosts;
  for (int n = 1; n <= 5; ++n) {
    result.servers.push_back(redis_server(where, fmt::format("redis-{}", n)));
    hosts += fmt::format("{}127.0.0.1:{}", n == 1 ? "" : ",", result.servers.back().port);
  }
  result.target = fmt::format("redis+independent://{}", hosts);
  return result;
}

}  // namespace lockmark::local
