# Writes OUTPUT, a .cpp that defines NAMESPACE::templates: the *.mustache of the folder SOURCE. Each
# is the template of its name; a line {{!> NAME}} begins another one in the same file.

set(all "")
string(ASCII 1 begin)

# add(NAME TEXT): one template, without the end of its last line.
function(add name text)
  # A tag alone on its line is no line of the text. The library knows that only of sections that it
  # does not skip, and loses empty lines after them: filled() takes out what tells lines from tags.
  string(REPLACE "\n" "\n${begin}" text "${begin}${text}")
  string(REGEX REPLACE "${begin}({{[#^/!][^}\n]*}})\n" "\\1" text "${text}")
  if(text MATCHES "\\)lockmark\"")
    message(FATAL_ERROR "template ${name} contains what ends a string literal")
  endif()
  set(all "${all}    {\"${name}\"sv, R\"lockmark(${text})lockmark\"sv},\n" PARENT_SCOPE)
endfunction()

file(GLOB files "${SOURCE}/*.mustache")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${file}" rest)
  while(rest MATCHES "\n{{!> ([a-z_]+)}}\n")
    set(next "${CMAKE_MATCH_1}")
    string(FIND "${rest}" "${CMAKE_MATCH_0}" end)
    string(LENGTH "${CMAKE_MATCH_0}" length)
    string(SUBSTRING "${rest}" 0 ${end} text)
    add("${name}" "${text}")
    math(EXPR end "${end} + ${length}")
    string(SUBSTRING "${rest}" ${end} -1 rest)
    set(name "${next}")
  endwhile()
  # A line that only calls a template would end twice.
  string(REGEX REPLACE "\n$" "" rest "${rest}")
  add("${name}" "${rest}")
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
