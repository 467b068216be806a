// Problems that would spoil a run: pure judgements, no server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/etcd/messages.hpp"
#include "harness/driver.hpp"

namespace lockmark::etcd {

// What is known of one member; `failure` in place of all else if it does not answer.
struct member_report {
  std::string address;  // "host:port"
  std::string failure{};
  member_status status{};
  alarms raised{};
  double quota = 0;                       // of the database, in bytes; 0: unknown
  std::optional<std::int64_t> clock_s{};  // the member's own, since 1970
};

// Servers lengthen a lease that is shorter than one and a half times their election timeout, and
// count in whole seconds. A note if that changed the session timeout.
std::optional<finding> judge_ttl(duration asked, duration granted);

// Whether this process may have enough file descriptors for the run's connections, in addition to
// `in_use`.
std::optional<finding> judge_descriptors(std::uint64_t limit, std::uint64_t in_use,
                                         std::uint64_t connections);

// Everything that the members tell: silent ones, versions without client-chosen watches (before
// 3.4), no leader, alarms, a database that is nearly full, clocks that differ. `server`: the
// target's name.
std::vector<finding> judge_members(std::string_view server,
                                   const std::vector<member_report>& members);

}  // namespace lockmark::etcd
