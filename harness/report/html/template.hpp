// Fills the page's templates (*.mustache of this folder) with data; formats.hpp has their formats.
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
