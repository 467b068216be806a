// How long a client waits before it retries a polling lock: as text, value and next pause.
//
//   none                     try once, then give up
//   spin                     try again at once
//   fixed(10ms)              always 10 ms
//   jittered(1ms, 20ms)      anything from 1 ms to 20 ms
//   exponential(1ms, 128ms)  1 ms, then doubled up to 128 ms; each pause is drawn from half to
//                            all of that; every attempt begins at 1 ms again
//
// Only computes pauses: the caller waits and keeps the deadline.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/config/generator.hpp"
#include "harness/config/parsed.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::config {

struct retry_policy {
  enum class shape { none, spin, fixed, jittered, exponential };

  // The accepted forms, for errors and help.
  static constexpr std::string_view forms =
      "none, spin, fixed(PAUSE), jittered(LEAST, GREATEST) or exponential(FIRST, GREATEST)";

  shape kind = shape::none;
  duration least{};     // fixed: the pause; jittered: the minimum; exponential: the first
  duration greatest{};  // jittered, exponential: the maximum; otherwise zero

  // The pause before the next try of an attempt whose last `failures` tries (1, 2, ...) failed;
  // nothing if the policy gives up. Stateless: the caller counts from 1 in each attempt.
  template <generator G>
  std::optional<duration> next_pause(std::uint32_t failures, G& random) const;

  bool operator==(const retry_policy&) const = default;
};

parsed<retry_policy> parse_retry_policy(std::string_view text);
std::string print_retry_policy(const retry_policy& value);

template <generator G>
std::optional<duration> retry_policy::next_pause(std::uint32_t failures, G& random) const {
  const auto between = [&random](double low, double high) {
    return duration{std::llround(low + (high - low) * random.uniform01())};
  };
  const auto low = static_cast<double>(least.count());
  const auto high = static_cast<double>(greatest.count());
  switch (kind) {
    case shape::none: return std::nullopt;
    case shape::spin: return duration::zero();
    case shape::fixed: return least;
    case shape::jittered: return between(low, high);
    case shape::exponential: break;
  }
  const int doublings = static_cast<int>(std::clamp(failures, 1u, 64u)) - 1;
  const double pause = std::min(std::ldexp(low, doublings), high);
  return between(pause / 2, pause);
}

}  // namespace lockmark::config
