// Values of run.json by path, and as text for people. A missing key (a killed run, or an older
// minor of the schema) is the same as null: unknown, "-".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

namespace lockmark::report::html {

using json = nlohmann::ordered_json;

// The value at the end of the path, or null. The reference lives as long as `from`.
const json& look(const json& from, std::initializer_list<const char*> path);

bool is_true(const json& value);
std::uint64_t count_of(const json& value);  // 0 unless it is a count
double real_of(const json& value);          // 0 unless it is a number

// Text itself, everything else as JSON, "unknown" for null.
std::string shown(const json& value);
std::string shown_number(const json& value, int decimals);
std::string shown_share(const json& value);
// "12.3 ms", "> 1.0 s", as a bound "<= 12.3 ms".
std::string shown_time(const json& value, bool bound = false);

// For chart data: four significant digits are more than a screen shows.
json rounded(double value);

}  // namespace lockmark::report::html
