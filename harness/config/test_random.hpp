// A small seeded generator for the tests of this folder only.
#pragma once

#include <random>

namespace lockmark::config {

class test_random {
 public:
  explicit test_random(std::uint64_t seed) : engine_(seed) {}
  double uniform01() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }
  double normal() { return normal_(engine_); }

 private:
  std::mt19937_64 engine_;
  std::normal_distribution<double> normal_;
};

// Always returns the same values; for the edges of a sampler.
struct stuck_random {
  double uniform = 0;
  double gauss = 0;
  double uniform01() const { return uniform; }
  double normal() const { return gauss; }
};

}  // namespace lockmark::config
