# Writes OUTPUT, a .cpp that defines what template.hpp declares: the texts of SOURCE (a folder) and of
# CHART_JS (a file), and VERSION. Runs when one of them has changed.

# embed(NAME TEXT): the text as an entry of `assets`.
function(embed name text)
  if(text MATCHES "\\)lockmark\"")
    message(FATAL_ERROR "${name} contains what ends a string literal")
  endif()
  set(assets "${assets}    {\"${name}\"sv, R\"lockmark(${text})lockmark\"sv},\n" PARENT_SCOPE)
endfunction()

# read_safe(RESULT FILE): a style's or script's text.
function(read_safe result file)
  file(READ "${file}" text)
  # A browser's tools would look for the map.
  string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" text "${text}")
  string(TOLOWER "${text}" lower)
  foreach(end IN ITEMS "</script" "</style" "<!--")
    string(FIND "${lower}" "${end}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} contains ${end}, which would end it in the middle of the page")
    endif()
  endforeach()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

set(assets "")
read_safe(text "${CHART_JS}")
if(NOT text MATCHES "Chart\\.js v([0-9.]+[0-9])")
  message(FATAL_ERROR "${CHART_JS} does not say which version of Chart.js it is")
endif()
embed(chart_js_version "${CMAKE_MATCH_1}")
embed(chart_js "${text}")
embed(lockmark_version "${VERSION}")
foreach(name IN ITEMS report.css format.js charts.js heatmap.js report.js)
  read_safe(text "${SOURCE}/${name}")
  string(REPLACE "." "_" name "${name}")
  embed(${name} "${text}")
endforeach()
file(WRITE "${OUTPUT}"
"// Made by embed.cmake.
#include \"harness/report/html/template.hpp\"

namespace lockmark::report::html {
using namespace std::string_view_literals;
const std::map<std::string_view, std::string_view> assets{
${assets}};
}  // namespace lockmark::report::html
")
