#include "drivers/redis/preflight.hpp"

#include <fmt/format.h>

namespace lockmark::redis {

std::optional<finding> judge_crowd(std::string_view server, const crowd& c) {
  if (c.limit == 0 || c.there + c.wanted <= c.limit) return std::nullopt;
  return finding{
      .fatal = true,
      .sentence = fmt::format("{} lets {} connections in and has {}; the run needs {} more: raise "
                              "maxclients or lower the number of clients",
                              server, c.limit, c.there, c.wanted)};
}

std::optional<finding> judge_descriptors(std::uint64_t wanted, std::uint64_t limit) {
  constexpr std::uint64_t others = 64;  // files, loops, pipes
  if (wanted <= limit && wanted + others <= limit) return std::nullopt;
  return finding{
      .fatal = true,
      .sentence = fmt::format("the run wants {} connections, and this process may open {} files: "
                              "raise the limit (ulimit -n) or lower the number of clients",
                              wanted, limit)};
}

std::optional<finding> judge_eviction(std::string_view server, std::string_view policy,
                                      std::uint64_t limit) {
  const bool evicts = policy.starts_with("allkeys-") || policy.starts_with("volatile-");
  if (!evicts || limit == 0) return std::nullopt;
  return finding{
      .fatal = false,
      .sentence = fmt::format("{} evicts keys ({}) when {} bytes are full, and locks are keys: set "
                              "maxmemory-policy to noeviction",
                              server, policy, limit)};
}

std::optional<finding> judge_permission(std::string_view server, std::string_view command,
                                        const reply& said) {
  if (!said.is(reply::kind::error)) return std::nullopt;
  return finding{
      .fatal = true,
      .sentence = fmt::format("{} refuses {} to this user, without which the lock cannot work: {}",
                              server, command, excerpt(said.text))};
}

std::string_view durability_of(std::string_view appendonly, std::string_view appendfsync) {
  if (appendonly == "no") return "none";
  if (appendonly != "yes") return "";
  if (appendfsync == "always") return "each change";
  return appendfsync == "everysec" ? "all but 1 s" : "as the kernel writes";
}

}  // namespace lockmark::redis
