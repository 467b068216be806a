#include "drivers/etcd/preflight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "harness/base/lists.hpp"

namespace lockmark::etcd {
namespace {

constexpr double nearly_full = 0.8;
// Pages are dated to the second, and fetched one after the other.
constexpr std::int64_t clocks_agree_s = 3;

long long in_ms(duration d) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
}

bool is_too_old(const std::string& version) {
  int major = 0, minor = 0;
  if (std::sscanf(version.c_str(), "%d.%d", &major, &minor) != 2) return false;
  return major < 3 || (major == 3 && minor < 4);
}

std::optional<finding> judge_silence(const std::vector<member_report>& members) {
  std::vector<std::string> silent;
  for (const member_report& m : members) {
    if (!m.failure.empty()) silent.push_back(m.address);
  }
  if (silent.empty()) return std::nullopt;
  return finding{false, fmt::format("{} of {} servers do not answer: {}", silent.size(),
                                    members.size(), joined(silent))};
}

std::optional<finding> judge_space(const member_report& m) {
  if (m.raised.out_of_space) {
    return finding{true, fmt::format("{} has raised the alarm NOSPACE and takes no writes: compact "
                                     "and defragment it, or raise --quota-backend-bytes; then "
                                     "etcdctl alarm disarm",
                                     m.address)};
  }
  const auto used = static_cast<double>(m.status.size);
  if (m.quota <= 0 || used < nearly_full * m.quota) return std::nullopt;
  return finding{false, fmt::format("the database of {} has {:.0f} of the {:.0f} bytes that its "
                                    "quota allows, beyond which it takes no writes: compact and "
                                    "defragment it, or raise --quota-backend-bytes",
                                    m.address, used, m.quota)};
}

std::optional<finding> judge_clocks(const std::vector<member_report>& members) {
  std::vector<std::int64_t> clocks;
  for (const member_report& m : members) {
    if (m.clock_s) clocks.push_back(*m.clock_s);
  }
  if (clocks.empty()) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(clocks);
  if (most - least < clocks_agree_s) return std::nullopt;
  return finding{false, fmt::format("the clocks of the servers differ by {} s; leases do not mind, "
                                    "logins and certificates do",
                                    most - least)};
}

}  // namespace

std::optional<finding> judge_ttl(duration asked, duration granted) {
  if (in_ms(asked) == in_ms(granted)) return std::nullopt;
  return finding{false, fmt::format("a session timeout of {} ms was asked for, and the servers "
                                    "grant leases of {} ms: ask for whole seconds, and no less "
                                    "than one and a half of their --election-timeout",
                                    in_ms(asked), in_ms(granted))};
}

std::optional<finding> judge_descriptors(std::uint64_t limit, std::uint64_t in_use,
                                         std::uint64_t connections) {
  constexpr std::uint64_t spare = 32;
  const std::uint64_t needed = connections + in_use + spare;
  if (needed <= limit) return std::nullopt;
  return finding{true, fmt::format("{} connections need {} file descriptors with what is open "
                                   "already, and this process may have {}: raise the limit with "
                                   "ulimit -n {}",
                                   connections, needed, limit, needed)};
}

std::vector<finding> judge_members(std::string_view server,
                                   const std::vector<member_report>& members) {
  std::vector<finding> all;
  const auto note = [&all](std::optional<finding> f) {
    if (f) all.push_back(std::move(*f));
  };
  note(judge_silence(members));
  bool has_leader = false;
  for (const member_report& m : members) {
    if (!m.failure.empty()) continue;
    has_leader = has_leader || m.status.leader != 0;
    if (is_too_old(m.status.version)) {
      all.push_back({true, fmt::format("{} runs etcd {}; these locks need 3.4 or newer", m.address,
                                       m.status.version)});
    }
    if (m.raised.corrupt) {
      all.push_back({true, fmt::format("{} has raised the alarm CORRUPT: what its members store "
                                       "differs",
                                       m.address)});
    }
    note(judge_space(m));
  }
  if (!has_leader) {
    all.push_back({true, fmt::format("{} has no leader: a majority of its members must be up and "
                                     "reach each other",
                                     server)});
  }
  note(judge_clocks(members));
  return all;
}

}  // namespace lockmark::etcd
