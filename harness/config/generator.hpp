// The source of randomness that this folder's samplers need. The samplers are templates on it, so
// the same seed gives the same plan whoever owns the generator.
#pragma once

#include <concepts>

namespace lockmark::config {

// uniform01() is uniform in [0, 1); normal() is standard normal.
template <class T>
concept generator = requires(T& random) {
  { random.uniform01() } -> std::convertible_to<double>;
  { random.normal() } -> std::convertible_to<double>;
};

}  // namespace lockmark::config
