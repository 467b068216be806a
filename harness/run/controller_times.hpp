// Times shared by the phases of a run.
#pragma once

#include "harness/time/clock.hpp"

namespace lockmark::run {

// Limit for the server's counts after the load, and for wiping it.
inline constexpr duration cleaning_within = std::chrono::seconds{10};

}  // namespace lockmark::run
