# Writes OUTPUT, a .cpp that defines NAMESPACE::templates: the *.mustache of the folder SOURCE.

set(all "")
string(ASCII 1 begin)
file(GLOB files "${SOURCE}/*.mustache")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${file}" text)
  # A line that only calls a template would end twice.
  string(REGEX REPLACE "\n$" "" text "${text}")
  # A tag alone on its line is no line of the text. The library knows that only of sections that it
  # does not skip, and loses empty lines after them: filled() takes out what tells lines from tags.
  string(REPLACE "\n" "\n${begin}" text "${begin}${text}")
  string(REGEX REPLACE "${begin}({{[#^/!][^}\n]*}})\n" "\\1" text "${text}")
  if(text MATCHES "\\)lockmark\"")
    message(FATAL_ERROR "${file} contains what ends a string literal")
  endif()
  string(APPEND all "    {\"${name}\"sv, R\"lockmark(${text})lockmark\"sv},\n")
endforeach()
file(WRITE "${OUTPUT}"
"// Made by embed.cmake.
#include \"harness/templates/fill.hpp\"

namespace ${NAMESPACE} {
using namespace std::string_view_literals;
extern const lockmark::templates::texts templates;
const lockmark::templates::texts templates{
${all}};
}  // namespace ${NAMESPACE}
")
