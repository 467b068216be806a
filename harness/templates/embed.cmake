# Writes OUTPUT, a .cpp that defines NAMESPACE::templates: the *.mustache of the folder SOURCE.

set(all "")
file(GLOB files "${SOURCE}/*.mustache")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${file}" text)
  # A line that only calls a template would end twice.
  string(REGEX REPLACE "\n$" "" text "${text}")
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
