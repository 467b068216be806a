// The key figures: of one run as tiles and a table of its quantiles, of several as the comparison
// table.
#pragma once

#include <string>
#include <vector>

#include "harness/report/html/subject.hpp"

namespace lockmark::report::html {

// Success, rate, latency, hand-off and the rest, one tile each.
std::string key_figures(const subject& s);
// Quantiles of response and service with their 95 % intervals.
std::string quantile_table(const subject& s);
// One row per run, in the order given, with a link to the run's own part of the page.
std::string comparison_table(const std::vector<subject>& subjects);

}  // namespace lockmark::report::html
