// A small seeded generator whose numbers are the same on every platform and compiler.
//
// xoshiro256** 1.0 by David Blackman and Sebastiano Vigna (https://prng.di.unimi.it, public
// domain), its four words seeded by splitmix64, as its authors advise. Not for secrets. The
// standard library's distributions are not used: their output is not specified, and a plan made
// from a seed must be the same everywhere. (exponential, normal and lognormal use std::log and
// friends, whose last bit may differ between C libraries.)
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace lockmark::stats {

// The next number of a splitmix64 sequence; also a good way to mix a seed with a stream number.
constexpr std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

class random_source {
 public:
  explicit constexpr random_source(std::uint64_t seed) {
    for (std::uint64_t& word : state_) word = splitmix64(seed);
  }

  // An independent stream of the same seed: one per client, key, or purpose.
  constexpr random_source(std::uint64_t seed, std::uint64_t stream)
      : random_source(seed ^ splitmix64(stream)) {}

  // All 64 bits are random.
  constexpr std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // In [0, 1), a multiple of 2^-53.
  constexpr double uniform01() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  // In [0, bound), without bias (Lemire, "Fast random integer generation in an interval", 2019).
  // `bound` > 0.
  constexpr std::uint64_t below(std::uint64_t bound) {
    auto product = static_cast<unsigned __int128>(next()) * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t threshold = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < threshold) {
        product = static_cast<unsigned __int128>(next()) * bound;
      }
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  // `mean` >= 0, in any unit; the result is in the same unit.
  double exponential(double mean) { return -mean * std::log1p(-uniform01()); }

  // Box-Muller; the second value is discarded so that the state stays four words.
  double normal(double mean = 0.0, double deviation = 1.0) {
    const double radius = std::sqrt(-2.0 * std::log1p(-uniform01()));
    return mean + deviation * radius * std::cos(2.0 * std::numbers::pi * uniform01());
  }

  // exp of a normal value: its median is exp(mu), its mean exp(mu + sigma^2 / 2).
  double lognormal(double mu, double sigma) { return std::exp(normal(mu, sigma)); }

 private:
  std::uint64_t state_[4] = {};
};

}  // namespace lockmark::stats
