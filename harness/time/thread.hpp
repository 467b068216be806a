// Sleeping and waking on time: the kernel settings and calls for threads that measure.
#pragma once

#include "harness/time/clock.hpp"

namespace lockmark {

// Lets the calling thread's timed waits end on time: Linux otherwise adds up to 50 us to save power
// (timer slack).
void punctual_thread();

// Blocks the calling thread until `when`, by an absolute timer. Not for event loops.
void block_until(time_point when);

}  // namespace lockmark
