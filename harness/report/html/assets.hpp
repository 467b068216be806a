// Texts that CMake embeds in the program at build time (embed.cmake): our own style and scripts
// from this folder, and Chart.js from the system's package. Style and scripts are safe
// inside <style> and <script>.
#pragma once

#include <map>
#include <string_view>

namespace lockmark::report::html {

// What page.mustache takes as it is, by its name there: style, scripts, and Chart.js, which is
// under the MIT licence; and the versions of Chart.js and lockmark.
extern const std::map<std::string_view, std::string_view> assets;

}  // namespace lockmark::report::html
