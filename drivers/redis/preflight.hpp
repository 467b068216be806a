// What would spoil a run at one place, judged from what the server says of itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "drivers/redis/resp.hpp"
#include "harness/driver.hpp"

namespace lockmark::redis {

// Connections that the run will open on a server that lets so many in and has so many.
struct crowd {
  std::uint64_t wanted = 0;
  std::uint64_t limit = 0;  // maxclients; 0: unknown
  std::uint64_t there = 0;  // among them the one that asks
};
std::optional<finding> judge_crowd(std::string_view server, const crowd& c);

// The run's connections to all servers against the files that this process may open.
std::optional<finding> judge_descriptors(std::uint64_t wanted, std::uint64_t limit);
std::uint64_t descriptor_limit();  // the largest number for none

// `limit`: maxmemory in bytes, 0 for none. A server that evicts keys when its memory is full evicts
// locks.
std::optional<finding> judge_eviction(std::string_view server, std::string_view policy,
                                      std::uint64_t limit);

// The answer to a command that the lock depends on, asked for trying.
std::optional<finding> judge_permission(std::string_view server, std::string_view command,
                                        const reply& said);

// The value that CONFIG GET answered; empty for a server that does not tell.
std::string_view setting_in(const reply& said);

// A number in decimal; 0 for what is none.
std::uint64_t number_in(std::string_view text);

}  // namespace lockmark::redis
