// How the templates of reports show values of run.json. Formats, and what stands for an unknown
// value:
//   {{text a.b}}       the text, or a number as in JSON    unknown
//   {{value a.b}}      the same                            -
//   {{count a.b}}      a whole number                      0
//   {{.2f a.b}}        with so many decimals, 0 to 9       -
//   {{share a.b}}      "99.98 %"                           -
//   {{time a.b}}       from nanoseconds: "1.2 ms"          -
//   {{own_time a.b}}   the same; with `bound`, "<= 1.2 ms" -
//   {{ms a.b}}         from nanoseconds, three decimals    -
//   {{s a.b}}          from nanoseconds, one decimal       0.0
//   {{seconds a.b}}    from nanoseconds, two decimals      0.00
//   {{quantile a.b}}   "p99.9" for 0.999                   p0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "harness/templates/fill.hpp"

namespace lockmark::report {

using json = nlohmann::ordered_json;

bool is_true(const json& value);
std::uint64_t count_of(const json& value);  // 0 unless it is a count
double real_of(const json& value);          // 0 unless it is a number

// Text itself, everything else as JSON, "unknown" for null.
std::string shown(const json& value, const char* unknown = "unknown");
std::string shown_number(const json& value, int decimals);
std::string shown_share(const json& value);
// "12.3 ms", "> 1.0 s", as a bound "<= 12.3 ms".
std::string shown_time(const json& value, bool bound = false);
// "p99.9" for 0.999.
std::string name_of_quantile(double q);

// For templates::kind.
std::optional<std::string> formatted(const std::string& format, const json& value,
                                     const templates::lookup& get);

}  // namespace lockmark::report
