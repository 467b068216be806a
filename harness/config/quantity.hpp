// Quantities as people write them: durations and rates with their unit, whole numbers,
// decimal numbers, true and false. Reading and printing only; bounds belong to the options.
//
// Each print_x writes the shortest text that parse_x reads back as exactly the same value. It
// requires a value that parse_x can return: a negative one, say, has no text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/config/parsed.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::config {

// The longest duration allowed in a configuration: 365 days.
inline constexpr duration longest_duration = std::chrono::hours{365 * 24};

// "250ms", "1.5s", "0s": a decimal number directly followed by ns, us, ms, s, m (minutes) or h.
// Exact to the nanosecond. Refused: finer or negative values, values above longest_duration, and
// numbers without a unit, even zero.
parsed<duration> parse_duration(std::string_view text);
std::string print_duration(duration value);

// Events per time, as a fraction in lowest terms, so that "100/m" stays exact.
// Invariant: events > 0, per > 0, and no common factor.
struct rate {
  std::int64_t events = 1;
  duration per = std::chrono::seconds{1};

  double per_second() const {
    return static_cast<double>(events) * 1e9 / static_cast<double>(per.count());
  }
  bool operator==(const rate&) const = default;
};

// "200/s", "1500/m", "0.5/h": above zero, at most six decimals, at most 1_000_000_000/s.
parsed<rate> parse_rate(std::string_view text);
std::string print_rate(rate value);

// "10000" or "10_000": digits, with single underscores between them; no sign, no unit, no "10k".
parsed<std::uint64_t> parse_count(std::string_view text);
std::string print_count(std::uint64_t value);

// "0.99": a finite number without a unit.
parsed<double> parse_number(std::string_view text);
std::string print_number(double value);

// Exactly "true" or "false".
parsed<bool> parse_bool(std::string_view text);
std::string print_bool(bool value);

}  // namespace lockmark::config
