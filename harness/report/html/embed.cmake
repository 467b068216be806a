# Writes OUTPUT, a .cpp that defines what assets.hpp declares: the texts of SOURCE (a folder) and of
# CHART_JS (a file), and VERSION. Runs when one of them has changed.

# embed(NAME FILE): the file's text as a constant, in `definitions`.
function(embed name file)
  file(READ "${file}" text)
  # A browser's tools would look for the map.
  string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" text "${text}")
  string(TOLOWER "${text}" lower)
  foreach(end IN ITEMS "</script" "</style" "<!--" ")lockmark\"")
    string(FIND "${lower}" "${end}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} contains ${end}, which would end it in the middle of the page")
    endif()
  endforeach()
  string(APPEND definitions "const std::string_view ${name} = R\"lockmark(${text})lockmark\"sv;\n")
  set(definitions "${definitions}" PARENT_SCOPE)
endfunction()

set(definitions "")
embed(chart_js "${CHART_JS}")
if(NOT definitions MATCHES "Chart\\.js v([0-9.]+[0-9])")
  message(FATAL_ERROR "${CHART_JS} does not say which version of Chart.js it is")
endif()
set(chart_js_version "${CMAKE_MATCH_1}")
embed(report_css "${SOURCE}/report.css")
embed(format_js "${SOURCE}/format.js")
embed(charts_js "${SOURCE}/charts.js")
embed(heatmap_js "${SOURCE}/heatmap.js")
embed(report_js "${SOURCE}/report.js")
file(WRITE "${OUTPUT}"
"// Made by embed.cmake.
#include \"harness/report/html/assets.hpp\"

namespace lockmark::report::html {
using namespace std::string_view_literals;
const std::string_view chart_js_version = \"${chart_js_version}\";
const std::string_view lockmark_version = \"${VERSION}\";
${definitions}}  // namespace lockmark::report::html
")
