// Fills the page's templates (*.mustache of this folder, which CMake embeds) with data.
//
// Values are text: Mustache escapes them by itself. Only page.mustache takes some as they are, its
// style, its scripts and the data of its charts. An empty text, like false, is no section.
//
// A format may stand before a value's name; it also says what stands for a value that is missing:
//   {{text a.b}}      the text, or a number as in JSON    unknown
//   {{value a.b}}     the same                            -
//   {{count a.b}}     a whole number                      0
//   {{.2f a.b}}       with so many decimals, 0 to 9       -
//   {{share a.b}}     "99.98 %"                           -
//   {{time a.b}}      from nanoseconds: "1.2 ms"          -
//   {{own_time a.b}}  the same; with `bound`, "<= 1.2 ms" -
//   {{ms a.b}}        from nanoseconds, three decimals    -
//   {{s a.b}}         from nanoseconds, one decimal       0.0
//   {{#some a b}}     a section, if one of them is above 0, or a list with something in it
#pragma once

#include <string>

#include "harness/report/html/look.hpp"

namespace lockmark::report::html {

// `name`: of the file, without its extension. Throws std::logic_error for a template with mistakes.
std::string filled(const std::string& name, const json& data);

}  // namespace lockmark::report::html
