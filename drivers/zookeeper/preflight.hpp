// What would spoil a run with so many sessions: judgements of what was found out, no server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::zookeeper {

// The servers clamp the session timeout that a client asks for to 2 to 20 of their ticks, or to
// what they were told. A note when that made another one of it.
std::optional<finding> judge_session_timeout(duration asked, duration granted);

// `limits` are the servers' maxClientCnxns, how many connections each takes from one address:
// nothing where it does not tell, 0 for no limit. Fatal if so many sessions cannot be had; a note
// if they could be too many for one server, or if nobody can know.
std::optional<finding> judge_connections(const std::vector<std::optional<std::uint64_t>>& limits,
                                         std::uint64_t sessions);

// Whether this process may have as many file descriptors as so many sessions need, beside the
// `in_use`.
std::optional<finding> judge_descriptors(std::uint64_t limit, std::uint64_t in_use,
                                         std::uint64_t sessions);

// A note when not all of the servers answer.
std::optional<finding> judge_silence(const std::vector<std::string>& silent, std::size_t all);

// Of this process.
std::uint64_t descriptor_limit();
std::uint64_t descriptors_in_use();

}  // namespace lockmark::zookeeper
