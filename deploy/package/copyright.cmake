# The copyright file of the packages, in Debian's format, from the table of libraries.cmake. Each
# text of licences/ is one licence. Also sets lm_licences, an SPDX expression of all of them, and
# lm_compiled_in, the Debian packages of what is in the program.

# licence_text(SPDX RESULT): as a paragraph of the format, indented, with dots for empty lines.
function(licence_text name result)
  if(name STREQUAL Apache-2.0)
    set(text "On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.")
  else()
    file(READ ${lm_package}/licences/${name}.txt text)
    string(STRIP "${text}" text)
  endif()
  string(REPLACE "\n" "\n " text "${text}")
  string(REPLACE "\n \n" "\n .\n" text "${text}")
  set(${result} "License: ${name}\n ${text}\n" PARENT_SCOPE)
endfunction()

function(write_copyright file)
  set(used Apache-2.0)
  set(all Apache-2.0)
  set(packages "")
  set(paragraphs "")
  foreach(row IN LISTS lm_libraries)
    string(REPLACE "|" ";" row "${row}")
    list(GET row 0 name)
    list(GET row 1 package)
    list(GET row 2 way)
    list(GET row 3 licence)
    list(GET row 4 holders)
    list(APPEND all ${licence})
    if(way STREQUAL source OR (way STREQUAL own AND LOCKMARK_STATIC))
      list(APPEND packages ${package})
      list(APPEND used ${licence})
      string(APPEND paragraphs "Files: ${package}/*\nCopyright: ${holders}\nLicense: ${licence}\n"
        "Comment: ${name}, compiled into the program.\n\n")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES used)
  list(REMOVE_DUPLICATES all)
  foreach(licence IN LISTS used)
    licence_text(${licence} text)
    string(APPEND paragraphs "${text}\n")
  endforeach()
  set(bundled "")
  if(LOCKMARK_STATIC)
    string(CONCAT bundled "Comment: The libraries in lib/lockmark are Debian's; their licences are"
      " in\n share/doc/lockmark/licences, a file for each source package.\n")
  endif()
  string(STRIP "${paragraphs}" paragraphs)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: lockmark
${bundled}
Files: *
Copyright: 2026 the authors of lockmark
License: Apache-2.0

${paragraphs}
")
  list(JOIN all " AND " all)
  set(lm_licences "${all}" PARENT_SCOPE)
  set(lm_compiled_in "${packages}" PARENT_SCOPE)
endfunction()
