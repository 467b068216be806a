// Everything that the page says of one run alone.
#pragma once

#include <string>

#include "harness/report/html/chart.hpp"
#include "harness/report/html/subject.hpp"

namespace lockmark::report::html {

// Verdict, figures, charts, provenance. The charts' data goes to the sheet.
std::string run_part(const subject& s, chart_sheet& sheet);
// Verdict, figures, safety; for pages of so many runs that there is no room for all of each.
std::string brief_run_part(const subject& s);

}  // namespace lockmark::report::html
