// Problems that would spoil a run at one place, judged from the server's own reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "drivers/redis/replies.hpp"
#include "harness/driver.hpp"

namespace lockmark::redis {

// The connections that the run will open, and the server's limit and number of connections.
struct crowd {
  std::uint64_t wanted = 0;
  std::uint64_t limit = 0;  // maxclients; 0: unknown
  std::uint64_t there = 0;  // including the one that asks
};
std::optional<finding> judge_crowd(std::string_view server, const crowd& c);

// Whether this process may open enough files for the run's connections to all servers.
std::optional<finding> judge_descriptors(std::uint64_t wanted, std::uint64_t limit);

// `limit`: maxmemory in bytes; 0: none. A server that evicts keys when its memory is full evicts
// locks.
std::optional<finding> judge_eviction(std::string_view server, std::string_view policy,
                                      std::uint64_t limit);

// Which changes survive a crash, by the settings of Redis's append-only file; empty: not known. A
// snapshot now and then keeps no lock.
std::string_view durability_of(std::string_view appendonly, std::string_view appendfsync);

// `said` answers a trial of a command that the lock depends on.
std::optional<finding> judge_permission(std::string_view server, std::string_view command,
                                        const reply& said);

}  // namespace lockmark::redis
