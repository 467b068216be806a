// When the next arrival is due: schedules as pure functions of (rate, seed, worker).
//
// Offsets count from the start of the load; a schedule reads no clock, waits for nobody and never
// catches up or slows down: a late arrival stays due at its own time.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <variant>
#include <vector>

#include "harness/config/job.hpp"
#include "harness/config/quantity.hpp"
#include "harness/stats/random.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::pace {

// The part of the load that one worker drives: number `worker` of `workers`. Invariant:
// worker < workers.
struct share {
  std::uint32_t worker = 0;
  std::uint32_t workers = 1;
};

// The offset of arrival `index` (from 0) at a constant rate: index * per / events, rounded down to
// the nanosecond and computed exactly, so nothing drifts. Saturates at the largest duration.
duration constant_offset(config::rate rate, std::uint64_t index);

// The arrivals of one worker, in order. The same arguments always give the same plan.
class schedule {
 public:
  // No scheduled arrivals: in a closed loop the next attempt begins when the last one ends.
  static schedule closed();

  // Arrivals of the whole load at 0, 1/rate, 2/rate, ...; arrival i belongs to worker i mod
  // workers.
  static schedule constant(config::rate total, share mine);

  // Poisson arrivals. The workers' parts are independent Poisson processes of rate total / workers,
  // which add up to one of rate `total`; each is seeded with (seed, worker).
  static schedule poisson(config::rate total, share mine, std::uint64_t seed);

  // The intended offset of this worker's next arrival; nullopt in a closed loop.
  std::optional<duration> next();

 private:
  struct no_arrivals {};

  struct constant_arrivals {
    config::rate total;
    std::uint64_t index;
    std::uint64_t stride;
    duration next();
  };

  // mt19937_64 because the standard specifies its output: a plan does not depend on the library.
  // The offset keeps fractions of a nanosecond: rounding each gap would bias the rate.
  struct poisson_arrivals {
    double mean_gap_ns;
    double offset_ns;
    std::mt19937_64 random;
    duration next();
  };

  using arrivals = std::variant<no_arrivals, constant_arrivals, poisson_arrivals>;
  explicit schedule(arrivals plan) : plan_(std::move(plan)) {}

  arrivals plan_;
};

// The arrivals of an open loop: when each is due, and what it wants (R2). The n-th arrival of a
// seed wants the same key for the same time in every run, whichever client serves it. So two runs,
// or a run and its simulation, can be compared arrival by arrival.
//
// REQUIRES: a loop whose attempts arrive by a rate.
schedule schedule_of(const config::job& job, share mine);

// The number of a worker's n-th arrival (from 0) over the whole load.
constexpr std::uint64_t number_of(std::uint64_t n, share mine) {
  return n * mine.workers + mine.worker;
}

// From which its key is drawn, and then its hold.
constexpr stats::random_source random_of_arrival(std::uint64_t seed, std::uint64_t number) {
  // Streams of lower numbers are clients'.
  constexpr std::uint64_t first = std::uint64_t{1} << 32;
  return {seed, first + number};
}

struct arrival {
  duration due{};  // since the start of the load
  std::uint32_t key = 0;
  duration hold{};
};

// Those of all workers, until `until`, in the order in which they are due. REQUIRES: as above, and
// no `keys: own`, which belong to clients.
std::vector<arrival> arrivals_of(const config::job& job, std::uint32_t workers, duration until);

}  // namespace lockmark::pace
