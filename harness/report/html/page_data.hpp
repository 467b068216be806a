// What the templates show, as data: of one run (run.mustache) and of several (overview.mustache).
//
// Texts are ready for people; what a template takes from run.json as it is stands under "json".
// Sentences belong into the templates, which choose them by flags ("verdict_is", "figures_are").
#pragma once

#include <vector>

#include "harness/report/html/charts.hpp"

namespace lockmark::report::html {

// `full`: with charts, whose data go to the sheet, and provenance.
json run_data(const subject& s, bool full, chart_sheet& sheet);

// Who held a key when, a picture for each log of holds in run.json; unless `all`, only where two
// held it at once.
json hold_lanes(const subject& s, bool all);

// Counts, the columns of the table side by side, and the charts that the runs of a scenario share:
// runs of different scenarios are not comparable. The runs themselves are the caller's.
json overview_data(const std::vector<subject>& subjects, chart_sheet& sheet);

}  // namespace lockmark::report::html
