// Values of run.json by path. A missing key (a killed run, or an older minor of the schema) is the
// same as null: unknown, "-".
#pragma once

#include <initializer_list>

#include "harness/report/formats.hpp"

namespace lockmark::report::html {

// The value at the end of the path, or null. The reference lives as long as `from`.
const json& look(const json& from, std::initializer_list<const char*> path);

// For chart data: four significant digits are more than a screen shows.
json rounded(double value);

}  // namespace lockmark::report::html
