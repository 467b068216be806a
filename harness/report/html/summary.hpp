// The figures that most come for: of one run as tiles and a table of its quantiles, of several as
// the comparison table.
#pragma once

#include <string>
#include <vector>

#include "harness/report/html/subject.hpp"

namespace lockmark::report::html {

// Success, rate, latency, hand-off and the rest, one tile each.
std::string key_figures(const subject& s);
// Quantiles of response and service with their 95 % intervals.
std::string quantile_table(const subject& s);
// A row for each run, in the order given, with a link to what the page says of it alone.
std::string comparison_table(const std::vector<subject>& subjects);

}  // namespace lockmark::report::html
