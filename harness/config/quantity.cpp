#include "harness/config/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace lockmark::config {
namespace {

// Wide enough for any 18-digit number times any unit.
using wide = __int128;

struct unit {
  std::string_view name;
  std::int64_t factor;
};

constexpr std::array<unit, 6> time_units{{{"h", 3'600'000'000'000},
                                          {"m", 60'000'000'000},
                                          {"s", 1'000'000'000},
                                          {"ms", 1'000'000},
                                          {"us", 1'000},
                                          {"ns", 1}}};
constexpr std::array<unit, 3> rate_units{
    {{"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000}}};

constexpr int decimals_of_duration = 9;
constexpr int decimals_of_rate = 6;

constexpr std::string_view a_duration =
    "a duration such as 250ms, 1.5s or 2m (units ns, us, ms, s, m, h)";
constexpr std::string_view a_rate = "a rate such as 200/s, 1500/m or 0.5/h";
constexpr std::string_view a_count = "a whole number such as 10000 or 10_000";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

template <std::size_t N>
const unit* find_unit(const std::array<unit, N>& units, std::string_view name) {
  const auto* found = std::find_if(
      units.begin(), units.end(), [name](const unit& candidate) { return candidate.name == name; });
  return found == units.end() ? nullptr : found;
}

// The number digits / 10^decimals.
struct decimal {
  std::int64_t digits = 0;
  int decimals = 0;
};

std::int64_t power_of_ten(int exponent) {
  std::int64_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

// Removes "12" or "12.34" from the front of `text`; nothing if it does not begin with such a number
// of at most 18 digits.
std::optional<decimal> take_decimal(std::string_view& text) {
  decimal number;
  int seen = 0;
  bool after_point = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const bool point = text[i] == '.' && !after_point && i > 0;
    if (!point && !is_digit(text[i])) break;
    if (point) {
      after_point = true;
      continue;
    }
    if (++seen > 18) return std::nullopt;
    number.digits = number.digits * 10 + (text[i] - '0');
    if (after_point) ++number.decimals;
  }
  if (i == 0 || text[i - 1] == '.') return std::nullopt;
  while (number.decimals > 0 && number.digits % 10 == 0) {
    number.digits /= 10;
    --number.decimals;
  }
  text.remove_prefix(i);
  return number;
}

// numerator / denominator in decimal notation; nothing if that takes more than `most_decimals`.
std::optional<std::string> exact_decimal(wide numerator, wide denominator, int most_decimals) {
  const auto whole = static_cast<std::int64_t>(numerator / denominator);
  wide rest = numerator % denominator;
  std::string text = std::to_string(whole);
  for (int i = 0; rest != 0; ++i) {
    if (i == most_decimals) return std::nullopt;
    if (i == 0) text += '.';
    rest *= 10;
    text += static_cast<char>('0' + static_cast<int>(rest / denominator));
    rest %= denominator;
  }
  return text;
}

}  // namespace

parsed<duration> parse_duration(std::string_view text) {
  std::string_view rest = text;
  const auto number = take_decimal(rest);
  if (!number) return expected(a_duration, text);
  if (rest.empty()) return expected(a_duration, text, "has no unit");
  const unit* found = find_unit(time_units, rest);
  if (!found)
    return expected(a_duration, text, fmt::format("has an unknown unit {}", in_quotes(rest)));
  const wide scaled = wide{number->digits} * found->factor;
  const wide divisor = power_of_ten(number->decimals);
  if (scaled % divisor != 0) return expected(a_duration, text, "is finer than a nanosecond");
  if (scaled / divisor > longest_duration.count()) {
    return expected(a_duration, text, "is longer than a year");
  }
  return duration{static_cast<std::int64_t>(scaled / divisor)};
}

std::string print_duration(duration value) {
  if (value == duration::zero()) return "0s";
  std::string best;
  for (const unit& candidate : time_units) {
    // "0.5s" is no clearer than "500ms", so only units not larger than the value are tried.
    if (value.count() < candidate.factor) continue;
    const auto text = exact_decimal(value.count(), candidate.factor, decimals_of_duration);
    if (!text) continue;
    const std::string whole = *text + std::string{candidate.name};
    if (best.empty() || whole.size() < best.size()) best = whole;
  }
  return best;
}

parsed<rate> parse_rate(std::string_view text) {
  std::string_view rest = text;
  const auto number = take_decimal(rest);
  if (!number) return expected(a_rate, text);
  if (rest.empty()) return expected(a_rate, text, "does not say per what time");
  const unit* found = rest.front() == '/' ? find_unit(rate_units, rest.substr(1)) : nullptr;
  if (!found) return expected(a_rate, text);
  if (number->digits == 0) return expected(a_rate, text, "is not above zero");
  if (number->decimals > decimals_of_rate) {
    return expected(a_rate, text, "has more than six decimals");
  }
  const std::int64_t per = found->factor * power_of_ten(number->decimals);
  if (number->digits > per) return expected(a_rate, text, "is above 1000000000/s");
  const std::int64_t common = std::gcd(number->digits, per);
  return rate{number->digits / common, duration{per / common}};
}

std::string print_rate(rate value) {
  std::string best;
  for (const unit& candidate : rate_units) {
    const auto number =
        exact_decimal(wide{value.events} * candidate.factor, value.per.count(), decimals_of_rate);
    if (!number) continue;
    const std::string text = fmt::format("{}/{}", *number, candidate.name);
    if (best.empty() || text.size() < best.size()) best = text;
  }
  return best;
}

parsed<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t value = 0;
  char before = '_';
  for (const char c : text) {
    if (!is_digit(c) && (c != '_' || before == '_')) return expected(a_count, text);
    before = c;
    if (c == '_') continue;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) {
      return expected(a_count, text, "is above 18446744073709551615");
    }
    value = value * 10 + digit;
  }
  if (before == '_') return expected(a_count, text);
  return value;
}

std::string print_count(std::uint64_t value) {
  return std::to_string(value);
}

parsed<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return expected("a number such as 0.5", text);
  }
  return value;
}

std::string print_number(double value) {
  return fmt::format("{}", value);
}

parsed<bool> parse_bool(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return expected("true or false", text);
}

std::string print_bool(bool value) {
  return value ? "true" : "false";
}

}  // namespace lockmark::config
