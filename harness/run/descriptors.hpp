// File descriptors: the limit of a process, and whether it suffices for the proxies.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/base/descriptors.hpp"
#include "harness/driver.hpp"

namespace lockmark::run {

// Raises this process's own limit as far as permitted: the lower default is meant for programs that
// use select(), and was not chosen by anyone. Child processes inherit it.
void raise_descriptor_limit();

// Whether proxies limited to `limit` descriptors can carry `connections`, with two sockets each.
// `connections` 0: unknown.
std::optional<finding> judge_proxies(std::uint64_t connections, std::uint64_t limit);

}  // namespace lockmark::run
