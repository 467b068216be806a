// Events as columns of a message, and back, on another time scale. Nothing is lost.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "agents.pb.h"
#include "harness/check/history.hpp"

namespace lockmark::agents {

void append(std::span<const check::event> events, wire::Events& to);

// Times pass through `ours`, which must not decrease. Throws std::runtime_error for columns of
// different lengths and for kinds that there are not.
std::vector<check::event> read_events(const wire::Events& from,
                                      const std::function<std::int64_t(std::int64_t)>& ours);

}  // namespace lockmark::agents
