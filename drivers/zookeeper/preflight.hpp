// Problems that would spoil a run of the given number of sessions: pure judgements, no server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::zookeeper {

// The servers clamp the session timeout that a client requests to 2 to 20 of their ticks, or to
// configured limits. A note if that changed it.
std::optional<finding> judge_session_timeout(duration asked, duration granted);

// `limits` are the servers' maxClientCnxns, the connections that each accepts from one address:
// nothing if unknown, 0 for no limit. Fatal if the run's sessions exceed them; a note if they could
// be too many for one server, or if the limits are unknown.
std::optional<finding> judge_connections(const std::vector<std::optional<std::uint64_t>>& limits,
                                         std::uint64_t sessions);

// Whether this process may have enough file descriptors for the run's sessions, in addition to
// `in_use`.
std::optional<finding> judge_descriptors(std::uint64_t limit, std::uint64_t in_use,
                                         std::uint64_t sessions);

// A note if some servers do not answer.
std::optional<finding> judge_silence(const std::vector<std::string>& silent, std::size_t all);

// The descriptors that this process has open.
std::uint64_t descriptors_in_use();

}  // namespace lockmark::zookeeper
