// Texts that CMake embeds in the program at build time (embed.cmake): our own style and scripts
// from this folder, and Chart.js from the system's package. Each is safe inside <style> or
// <script>.
#pragma once

#include <string_view>

namespace lockmark::report::html {

extern const std::string_view report_css;
extern const std::string_view chart_js;  // Chart.js, MIT licence
extern const std::string_view chart_js_version;
extern const std::string_view format_js;
extern const std::string_view charts_js;
extern const std::string_view heatmap_js;
extern const std::string_view report_js;
extern const std::string_view lockmark_version;

}  // namespace lockmark::report::html
