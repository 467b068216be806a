#include "harness/report/text.hpp"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <stdexcept>

namespace lockmark::report {
namespace {

// Three digits, but below ten no trailing zeros beyond the first decimal.
std::string three_digits(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  std::string text = fmt::format("{:.2f}", value);
  if (text.back() == '0') text.pop_back();
  return text;
}

[[noreturn]] void refuse(const nlohmann::ordered_json& value, const char* what) {
  const std::string shown = value.is_structured() ? value.type_name() : value.dump();
  throw nlohmann::ordered_json::type_error::create(302, fmt::format("{} is no {}", shown, what),
                                                   &value);
}

// Means have fractions of nanoseconds.
std::int64_t rounded_down(const nlohmann::ordered_json& value) {
  const double ns = value.get<double>();
  if (!(std::abs(ns) < 9e18)) refuse(value, "time");
  return static_cast<std::int64_t>(ns);
}

}  // namespace

std::string duration_text(std::int64_t ns) {
  if (ns < 1'000) return fmt::format("{} ns", ns);
  static constexpr std::array<const char*, 3> units{"us", "ms", "s"};
  double value = static_cast<double>(ns) / 1e3;
  std::size_t unit = 0;
  for (; unit + 1 < units.size() && value >= 999.5; ++unit) value /= 1e3;
  return fmt::format("{} {}", three_digits(value), units[unit]);
}

std::string time_text(const std::optional<time_value>& t, bool bound) {
  if (!t) return "-";
  return fmt::format("{}{}", t->censored ? "> " : bound ? "<= " : "", duration_text(t->ns));
}

std::string rate_text(double per_s) {
  if (per_s >= 99.95) return fmt::format("{:.0f}", per_s);
  return fmt::format("{:.{}f}", per_s, per_s >= 9.995 ? 1 : per_s >= 1 ? 2 : 3);
}

std::string share_text(double share) {
  if (share == 0 || share == 1) return share == 0 ? "0 %" : "100 %";
  const double percent = 100 * share;
  if (percent > 0 && percent < 0.01) return "<0.01 %";
  if (percent > 99.99 && percent < 100) return ">99.99 %";
  return fmt::format("{:.{}f} %", percent, percent >= 99 && percent < 100 ? 2 : 1);
}

std::string number_text(const std::optional<double>& value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

std::int64_t whole_number(const nlohmann::ordered_json& value) {
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX);
  if (!fits) refuse(value, "whole number");
  return value.get<std::int64_t>();
}

std::uint64_t whole_count(const nlohmann::ordered_json& value) {
  const bool fits =
      value.is_number_integer() && (value.is_number_unsigned() || value.get<std::int64_t>() >= 0);
  if (!fits) refuse(value, "whole number from 0");
  return value.get<std::uint64_t>();
}

std::optional<time_value> time_of(const nlohmann::ordered_json& value) {
  if (value.is_null()) return std::nullopt;
  if (value.is_number_float()) return time_value{rounded_down(value), false};
  if (!value.is_string()) return time_value{whole_number(value), false};
  const auto text = value.get<std::string>();
  try {
    if (text.starts_with("> ")) return time_value{std::stoll(text.substr(2)), true};
  } catch (const std::logic_error&) {
  }
  refuse(value, "time");
}

std::string time_text(const nlohmann::ordered_json& value, bool bound) {
  return time_text(time_of(value), bound);
}

std::string csv_cell(const nlohmann::ordered_json& value) {
  if (value.is_null()) return "";
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (text.size() > width) {
    std::size_t at = text.rfind(' ', width);
    if (at == std::string_view::npos || at == 0) at = text.find(' ', width);
    if (at == std::string_view::npos) break;
    lines.emplace_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  lines.emplace_back(text);
  return lines;
}

}  // namespace lockmark::report
