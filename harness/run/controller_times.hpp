// What the phases of a run share.
#pragma once

#include "harness/time/clock.hpp"

namespace lockmark::run {

// Counting on the server after the load, and wiping it.
inline constexpr duration cleaning_within = std::chrono::seconds{10};

}  // namespace lockmark::run
