#include "harness/report/formats.hpp"

#include <fmt/core.h>

#include "harness/report/text.hpp"

namespace lockmark::report {

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

std::string shown(const json& value, const char* unknown) {
  if (value.is_null()) return unknown;
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

std::string name_of_quantile(double q) {
  return fmt::format("p{:.6g}", 100 * q);
}

std::optional<std::string> formatted(const std::string& format, const json& value,
                                     const templates::lookup& get) {
  if (format == "text") return shown(value);
  if (format == "value") return shown(value, "-");
  if (format == "count") return std::to_string(count_of(value));
  if (format == "share") return shown_share(value);
  if (format == "time") return shown_time(value);
  if (format == "own_time") return shown_time(value, is_true(get("bound")));
  if (format == "s") return fmt::format("{:.1f}", real_of(value) / 1e9);
  if (format == "seconds") return fmt::format("{:.2f}", real_of(value) / 1e9);
  if (format == "ms") return value.is_number() ? shown_number(real_of(value) / 1e6, 3) : "-";
  if (format == "quantile") return name_of_quantile(real_of(value));
  if (format.size() == 3 && format[0] == '.') return shown_number(value, format[1] - '0');
  return std::nullopt;
}

}  // namespace lockmark::report
