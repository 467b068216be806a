// Figures as text for people: short, with a unit, "-" if unknown.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockmark::report {

// Nanoseconds; if `censored`, a lower bound.
struct time_value {
  std::int64_t ns = 0;
  bool censored = false;

  bool operator==(const time_value&) const = default;
};

// "853 ns", "12.3 us", "1.2 ms", "1.0 s": three digits, and from 100 on no decimals.
std::string duration_text(std::int64_t ns);
// "1.2 ms"; "> 1.0 s" if censored; "<= 1.2 ms" as a bound; "-" without a value.
std::string time_text(const std::optional<time_value>& t, bool bound = false);
// "1234", "56.7", "0.123".
std::string rate_text(double per_s);
// "99.98 %"; only exactly 0 and 1 are shown as "0 %" and "100 %".
std::string share_text(double share);
std::string number_text(const std::optional<double>& value, int decimals);

// A whole number in run.json, or one from 0. Throws json's exception for anything else: converting
// 1e300, or a negative fraction to a count, would be undefined.
std::int64_t whole_number(const nlohmann::ordered_json& value);
std::uint64_t whole_count(const nlohmann::ordered_json& value);

// A time in run.json: a number, "> N", or nothing for null.
std::optional<time_value> time_of(const nlohmann::ordered_json& value);
std::string time_text(const nlohmann::ordered_json& value, bool bound = false);

// As a cell of CSV (RFC 4180): in quotes where it must be, empty for null.
std::string csv_cell(const nlohmann::ordered_json& value);

// Lines of at most `width` columns, broken at spaces; longer words stay whole.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

// Untrusted text inside XML 1.0, for element content and for attributes in double quotes: markup is
// escaped; control characters and invalid UTF-8, which XML cannot hold, become U+FFFD.
std::string xml_text(const std::string& text);

}  // namespace lockmark::report
