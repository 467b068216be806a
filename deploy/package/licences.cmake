# Run when a build with LOCKMARK_STATIC is installed: the licences of what it brings along, as
# Debian has them, a file for each source package. Reads `packages`, those that are compiled in, and
# `architecture`.
set(root $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX})
file(GLOB brought RELATIVE ${root}/lib/lockmark ${root}/lib/lockmark/*.so.*)
foreach(library IN LISTS brought)
  execute_process(COMMAND dpkg-query -S */${architecture}/${library} OUTPUT_VARIABLE owner
    COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "^[^:,]+" owner "${owner}")
  list(APPEND packages ${owner})
endforeach()
list(REMOVE_DUPLICATES packages)
set(to ${root}/share/doc/lockmark/licences)
file(MAKE_DIRECTORY ${to})
foreach(package IN LISTS packages)
  execute_process(COMMAND dpkg-query -W -f=\${source:Package}\\n ${package}
    OUTPUT_VARIABLE source COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "^[^\n]+" source "${source}")
  file(REAL_PATH /usr/share/doc/${package}/copyright from)
  file(COPY_FILE ${from} ${to}/${source})
endforeach()
