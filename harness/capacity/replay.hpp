// A lock as a queue: what arrivals would have waited for, given how long the lock takes to hand a
// key over.
//
// Replayed with the arrivals and holds of a run, it shares that run's luck: where they were many or
// long, both waited. So the difference between a run and its replay says more of the lock than the
// run alone (a control variate: Lavenberg and Welch, 1981).
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/capacity/evidence.hpp"
#include "harness/pace/schedule.hpp"

namespace lockmark::capacity {

inline double in_seconds(duration d) {
  return std::chrono::duration<double>(d).count();
}

// Who of the waiting is next.
enum class service_order : std::uint8_t { of_arrival, random };

struct lock_model {
  double lone_s = 0;                 // of an acquire of a free key
  std::vector<double> handoffs_s{};  // from a release to the next waiter's grant, equally likely
  double scale = 1;                  // of the hand-offs
  service_order order = service_order::of_arrival;
  double patience_s = 0;  // attempts give up after this
};

struct outcome_of_arrival {
  double due_s = 0;
  double wait_s = 0;  // of one that gave up: its patience
  bool granted = false;
};

// In the order of `all`. The same seed draws the same hand-offs. REQUIRES: hand-offs.
std::vector<outcome_of_arrival> replay(std::span<const pace::arrival> all, const lock_model& m,
                                       std::uint64_t seed);

// As the stretches of a run that measured from `from_s` to `until_s`: late are those that waited
// for longer than `late_after_s` or gave up. As in a run, only attempts that were due while it
// measured count, each in the stretch in which its wait ended.
stretches stretches_of(std::span<const outcome_of_arrival> all, double late_after_s, double part_s,
                       double from_s, double until_s);

}  // namespace lockmark::capacity
