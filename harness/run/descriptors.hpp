// Whether the limit of file descriptors suffices for the proxies.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/driver.hpp"

namespace lockmark::run {

// Whether proxies limited to `limit` descriptors can carry `connections`, with two sockets each.
// `connections` 0: unknown.
std::optional<finding> judge_proxies(std::uint64_t connections, std::uint64_t limit);

}  // namespace lockmark::run
