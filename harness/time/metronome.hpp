// Beats on a fixed schedule, whatever happens to the listener: after a stall, every beat that it
// missed is still counted, each as late as it was. Counting from the moment of waking instead
// would hide all but one of them (coordinated omission).
#pragma once

#include <algorithm>
#include <cstdint>

#include "harness/time/clock.hpp"

namespace lockmark {

class metronome {
 public:
  // REQUIRES: period > 0.
  metronome(time_point first, duration period) : next_(first), period_(period) {}

  // The time of the next beat.
  time_point next() const { return next_; }

  // Calls each(due, late, count) for every beat due by `now`, the oldest first; `late` >= 0. After
  // more than 100,000 missed beats, some neighbours are counted as one call.
  template <class Each>
  void strike(time_point now, Each each) {
    if (now < next_) return;
    const std::int64_t missed = (now - next_) / period_ + 1;
    const std::int64_t step = 1 + missed / most_calls;
    for (std::int64_t i = 0; i < missed; i += step) {
      const time_point due = next_ + i * period_;
      each(due, now - due, std::min(step, missed - i));
    }
    next_ += missed * period_;
  }

 private:
  static constexpr std::int64_t most_calls = 100'000;

  time_point next_;
  duration period_;
};

}  // namespace lockmark
