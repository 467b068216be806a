// Fills the page's templates (*.mustache of this folder) with data. Their formats, and what stands
// for an unknown value:
//   {{text a.b}}      the text, or a number as in JSON    unknown
//   {{value a.b}}     the same                            -
//   {{count a.b}}     a whole number                      0
//   {{.2f a.b}}       with so many decimals, 0 to 9       -
//   {{share a.b}}     "99.98 %"                           -
//   {{time a.b}}      from nanoseconds: "1.2 ms"          -
//   {{own_time a.b}}  the same; with `bound`, "<= 1.2 ms" -
//   {{ms a.b}}        from nanoseconds, three decimals    -
//   {{s a.b}}         from nanoseconds, one decimal       0.0
// Only page.mustache takes some values as they are: style, scripts and the data of the charts.
#pragma once

#include <string>

#include "harness/report/html/look.hpp"
#include "harness/templates/fill.hpp"

namespace lockmark::report::html {

extern const lockmark::templates::texts templates;

// Throws std::logic_error for a template with mistakes.
std::string filled(std::string_view name, const json& data);

}  // namespace lockmark::report::html
