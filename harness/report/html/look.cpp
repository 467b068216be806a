#include "harness/report/html/look.hpp"

#include <fmt/core.h>

#include <cmath>

#include "harness/report/text.hpp"

namespace lockmark::report::html {

const json& look(const json& from, std::initializer_list<const char*> path) {
  static const json unknown;
  const json* at = &from;
  for (const char* key : path) {
    if (!at->is_object()) return unknown;
    const auto found = at->find(key);
    if (found == at->end()) return unknown;
    at = &*found;
  }
  return *at;
}

bool is_true(const json& value) {
  return value.is_boolean() && value.get<bool>();
}

std::uint64_t count_of(const json& value) {
  if (!value.is_number_integer() || value < 0) return 0;
  return value.get<std::uint64_t>();
}

double real_of(const json& value) {
  return value.is_number() ? value.get<double>() : 0;
}

std::string shown(const json& value) {
  if (value.is_null()) return "unknown";
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string shown_number(const json& value, int decimals) {
  return value.is_number() ? fmt::format("{:.{}f}", value.get<double>(), decimals) : "-";
}

std::string shown_share(const json& value) {
  return value.is_number() ? share_text(value.get<double>()) : "-";
}

std::string shown_time(const json& value, bool bound) {
  return value.is_number() || value.is_string() ? time_text(value, bound) : "-";
}

json rounded(double value) {
  if (!std::isfinite(value) || value == 0) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 3);
  if (unit >= 1) return static_cast<std::int64_t>(std::llround(value / unit) * std::llround(unit));
  // Through text, because value / unit * unit has rounding errors.
  return std::stod(fmt::format("{:.4g}", value));
}

}  // namespace lockmark::report::html
