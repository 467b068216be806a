#include "drivers/zookeeper/preflight.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>

namespace lockmark::zookeeper {
namespace {

constexpr std::uint64_t default_limit = 60;  // of maxClientCnxns
constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

long long in_ms(duration d) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
}

std::uint64_t limit_of(const std::optional<std::uint64_t>& told) {
  return told && *told > 0 ? *told : unlimited;
}

}  // namespace

std::optional<finding> judge_session_timeout(duration asked, duration granted) {
  if (in_ms(asked) == in_ms(granted)) return std::nullopt;
  return finding{false,
                 fmt::format("a session timeout of {} ms was asked for, and the servers grant {} "
                             "ms: ask for what lies between their minSessionTimeout and "
                             "maxSessionTimeout, or change their tickTime",
                             in_ms(asked), in_ms(granted))};
}

std::optional<finding> judge_connections(const std::vector<std::optional<std::uint64_t>>& limits,
                                         std::uint64_t sessions) {
  std::uint64_t sum = 0;
  std::uint64_t least = unlimited;
  bool all_tell = true;
  for (const auto& told : limits) {
    const std::uint64_t limit = limit_of(told);
    sum = limit > unlimited - sum ? unlimited : sum + limit;
    least = std::min(least, limit);
    all_tell = all_tell && told.has_value();
  }
  if (sessions > sum) {
    return finding{true, fmt::format("{} sessions were asked for, and the servers take {} "
                                     "connections from one address: raise their maxClientCnxns, "
                                     "or set it to 0",
                                     sessions, sum)};
  }
  if (sessions > least) {
    return finding{false, fmt::format("{} sessions were asked for, and one server alone takes {} "
                                      "connections from one address: should too many come to it, "
                                      "they wait; raise maxClientCnxns",
                                      sessions, least)};
  }
  if (!all_tell && sessions > default_limit) {
    return finding{false,
                   fmt::format("{} sessions were asked for, and not every server tells how many "
                               "connections it takes from one address, by default {}: allow the "
                               "word conf in 4lw.commands.whitelist",
                               sessions, default_limit)};
  }
  return std::nullopt;
}

std::optional<finding> judge_descriptors(std::uint64_t limit, std::uint64_t in_use,
                                         std::uint64_t sessions) {
  constexpr std::uint64_t each = 2;  // a socket, and its duplicate: see handle.cpp
  constexpr std::uint64_t spare = 32;
  const std::uint64_t needed = each * sessions + in_use + spare;
  if (needed <= limit) return std::nullopt;
  return finding{true, fmt::format("{} sessions need {} file descriptors, {} each, and this "
                                   "process may have {}: raise the limit with ulimit -n {}",
                                   sessions, needed, each, limit, needed)};
}

std::optional<finding> judge_silence(const std::vector<std::string>& silent, std::size_t all) {
  if (silent.empty()) return std::nullopt;
  return finding{false, fmt::format("{} of {} servers do not answer: {}", silent.size(), all,
                                    fmt::join(silent, ", "))};
}

std::uint64_t descriptors_in_use() {
  std::error_code ignored;
  const std::filesystem::directory_iterator open("/proc/self/fd", ignored);
  return static_cast<std::uint64_t>(std::distance(begin(open), end(open)));
}

}  // namespace lockmark::zookeeper
