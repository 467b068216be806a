// File descriptors: how many a process may have, and whether they suffice for the proxies.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/driver.hpp"

namespace lockmark::run {

// Raises this process's own limit as far as it may: what is below that is a default for programs
// that use select(), and no decision of anybody's. What this process starts inherits it.
void raise_descriptor_limit();

// The largest number there is: no limit.
std::uint64_t descriptor_limit();

// Whether proxies, which may have so many descriptors, can carry so many connections, with two
// sockets for each. `connections`: 0 is not known.
std::optional<finding> judge_proxies(std::uint64_t connections, std::uint64_t limit);

}  // namespace lockmark::run
