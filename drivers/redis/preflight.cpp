#include "drivers/redis/preflight.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <charconv>
#include <limits>

#include "drivers/redis/answer_shape.hpp"

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

std::uint64_t descriptor_limit() {
  rlimit limit{};
  const bool known = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return known ? limit.rlim_cur : std::numeric_limits<std::uint64_t>::max();
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

std::string_view setting_in(const reply& said) {
  const bool known = said.is(reply::kind::array) && said.parts.size() == 2;
  return known ? std::string_view{said.parts[1].text} : std::string_view{};
}

std::uint64_t number_in(std::string_view text) {
  std::uint64_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

}  // namespace lockmark::redis
