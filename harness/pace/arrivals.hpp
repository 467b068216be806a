// The arrivals of an open loop: when each is due, and what it wants (R2).
//
// The n-th arrival of a seed wants the same key for the same time in every run, whichever client
// serves it. So two runs, or a run and its simulation, can be compared arrival by arrival.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/config/job.hpp"
#include "harness/pace/schedule.hpp"
#include "harness/stats/random.hpp"

namespace lockmark::pace {

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
