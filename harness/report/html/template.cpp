#include "harness/report/html/template.hpp"

#include <fmt/core.h>

namespace lockmark::report::html {
namespace {

std::string text_or(const json& value, const std::string& unknown) {
  return value.is_null() ? unknown : value.is_string() ? value.get<std::string>() : value.dump();
}

std::optional<std::string> formatted(const std::string& format, const json& value,
                                     const templates::lookup& get) {
  if (format == "text") return text_or(value, "unknown");
  if (format == "value") return text_or(value, "-");
  if (format == "count") return std::to_string(count_of(value));
  if (format == "share") return shown_share(value);
  if (format == "time") return shown_time(value);
  if (format == "own_time") return shown_time(value, is_true(get("bound")));
  if (format == "s") return fmt::format("{:.1f}", real_of(value) / 1e9);
  if (format == "ms") return value.is_number() ? shown_number(real_of(value) / 1e6, 3) : "-";
  if (format.size() == 3 && format[0] == '.') return shown_number(value, format[1] - '0');
  return std::nullopt;
}

}  // namespace

std::string filled(std::string_view name, const json& data) {
  return templates::filled({templates, templates::in_markup, formatted}, name, data);
}

}  // namespace lockmark::report::html
