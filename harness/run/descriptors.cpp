#include "harness/run/descriptors.hpp"

#include <fmt/format.h>

namespace lockmark::run {

std::optional<finding> judge_proxies(std::uint64_t connections, std::uint64_t limit) {
  constexpr std::uint64_t others = 64;  // doors, pipes, the servers' own connections
  const std::uint64_t needed = 2 * connections + others;
  if (needed <= limit) return std::nullopt;
  return finding{true, fmt::format("the faults of this job need proxies, and these {} file "
                                   "descriptors, two for each of {} connections, but may have {}: "
                                   "raise the limit (ulimit -Hn) or lower the number of clients",
                                   needed, connections, limit)};
}

}  // namespace lockmark::run
