// The page's part about a single run.
#pragma once

#include <string>

#include "harness/report/html/chart.hpp"
#include "harness/report/html/subject.hpp"

namespace lockmark::report::html {

// Verdict, figures, charts, provenance. The charts' data goes to the sheet.
std::string run_part(const subject& s, chart_sheet& sheet);
// Verdict, figures, safety; for pages with too many runs to show each in full.
std::string brief_run_part(const subject& s);

}  // namespace lockmark::report::html
