// Five independent Redis masters, for locks that need a majority of them.
#include <fmt/format.h>

#include "deploy/local/servers.hpp"

namespace lockmark::local {

// Five, as on Redis's page on distributed locks: two of them may fail.
plan redis_independent(site& where) {
  plan result;
  for (int n = 1; n <= 5; ++n) {
    result.servers.push_back(redis_server(where, fmt::format("redis-{}", n)));
  }
  result.target = fmt::format("redis+independent://{}", addresses_of(result.servers));
  return result;
}

}  // namespace lockmark::local
