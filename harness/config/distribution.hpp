// Distributions of durations (hold and think times) as text, value and sample.
//
//   5ms                    always 5 ms
//   exponential(5ms)       mean 5 ms
//   uniform(1ms, 3ms)      anything from 1 ms to 3 ms
//   lognormal(5ms, 0.5)    median 5 ms, standard deviation 0.5 of the logarithm
//
// Reads no clock and owns no randomness.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "harness/config/generator.hpp"
#include "harness/config/parsed.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::config {

struct distribution {
  enum class shape { constant, exponential, uniform, lognormal };

  // The accepted forms, for errors and help.
  static constexpr std::string_view forms =
      "a duration such as 5ms, or exponential(5ms), uniform(1ms, 3ms) or lognormal(5ms, 0.5)";

  shape kind = shape::constant;
  duration first{};   // the constant, mean, minimum or median
  duration second{};  // uniform: the maximum; otherwise zero
  double sigma = 0;   // lognormal: above 0, at most 5; otherwise zero

  // True if every sample is zero, so no timer is needed.
  bool always_zero() const { return kind == shape::constant && first == duration::zero(); }

  // At least zero. Tails are cut at one hour or at the largest parameter, whichever is longer: a
  // run is bounded in time, and a count of nanoseconds can overflow.
  template <generator G>
  duration sample(G& random) const;

  bool operator==(const distribution&) const = default;
};

parsed<distribution> parse_distribution(std::string_view text);
std::string print_distribution(const distribution& value);

template <generator G>
duration distribution::sample(G& random) const {
  const auto scale = static_cast<double>(first.count());
  double ns = scale;
  switch (kind) {
    case shape::constant: return first;
    case shape::exponential: ns = -scale * std::log1p(-random.uniform01()); break;
    case shape::uniform:
      ns = scale + static_cast<double>((second - first).count()) * random.uniform01();
      break;
    case shape::lognormal: ns = scale * std::exp(sigma * random.normal()); break;
  }
  const duration longest = std::max({duration{std::chrono::hours{1}}, first, second});
  return duration{std::llround(std::min(ns, static_cast<double>(longest.count())))};
}

}  // namespace lockmark::config
