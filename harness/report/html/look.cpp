#include "harness/report/html/look.hpp"

#include <fmt/core.h>

#include <cmath>

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

json rounded(double value) {
  if (!std::isfinite(value) || value == 0) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 3);
  if (unit >= 1) return static_cast<std::int64_t>(std::llround(value / unit) * std::llround(unit));
  // Through text, because value / unit * unit has rounding errors.
  return std::stod(fmt::format("{:.4g}", value));
}

}  // namespace lockmark::report::html
