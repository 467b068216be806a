// Theory of a lock as a queue with one server: its maximum rate, and its waits.
//
// A lock that serves its waiters in order is an M/G/1 queue; a service is a hold and the hand-off
// after it. Sources: Pollaczek-Khinchine for the mean; for quantiles the exponential tail with the
// same mean (measured against simulation: mean within 2.5 %, p99 within 5.5 % for exponential
// holds, up to 18 % too high for constant ones, at utilisations of 0.5 to 0.95).
#pragma once

#include <cstdint>
#include <optional>

namespace lockmark::capacity {

// Moments of hold and hand-off together, in seconds.
struct service_time {
  double mean_s = 0;
  double second_moment_s2 = 0;  // mean of the squares
};

// Grants per second of one key under constant demand.
double most_grants_per_s(const service_time& s);

// Grants per second of `clients` clients that each think, acquire without contention and hold.
double most_grants_per_s(const service_time& s, double clients, double think_s, double acquire_s);

// The number of clients above which more clients only wait longer.
double knee_clients(const service_time& s, double think_s, double acquire_s);

struct waiting {
  double utilisation = 0;  // 0 to 1
  double mean_s = 0;       // of the wait for the lock, without hold
  // The wait that a share q of the attempts does not exceed.
  double quantile_s(double q) const;
};

// For attempts that arrive at random at `rate_per_s`. Nothing at or above the highest rate: the
// queue grows without bound.
std::optional<waiting> predict(const service_time& s, double rate_per_s);

// The number of keys to split a lock into, by key hash, so that each is used at most a `share` of
// its time.
std::uint64_t shards_for(const service_time& s, double rate_per_s, double share);

}  // namespace lockmark::capacity
