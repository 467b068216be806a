// Fills the page's templates (*.mustache of this folder) with data; formats.hpp has their formats.
// Only page.mustache takes some values as they are: style, scripts and the data of the charts.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "harness/report/html/look.hpp"
#include "harness/templates/fill.hpp"

namespace lockmark::report::html {

extern const lockmark::templates::texts templates;

// What page.mustache takes as it is, by its name there, embedded at build time (embed.cmake): style
// and scripts of this folder, safe inside <style> and <script>; Chart.js from the system's package,
// which is under the MIT licence; and the versions of Chart.js and lockmark.
extern const std::map<std::string_view, std::string_view> assets;

// Throws std::logic_error for a template with mistakes.
std::string filled(std::string_view name, const json& data);

}  // namespace lockmark::report::html
