# What is installed, and the packages that CPack makes of it: a .deb of a usual build, a tarball and
# an .rpm of one with LOCKMARK_STATIC. deploy/package/build runs it.
set(lm_made ${CMAKE_BINARY_DIR}/installed)
set(lm_package ${PROJECT_SOURCE_DIR}/deploy/package)
# Of whoever builds the package, by the variables that Debian's own tools know.
set(LOCKMARK_MAINTAINER "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
if("$ENV{DEBFULLNAME}" STREQUAL "" OR "$ENV{DEBEMAIL}" STREQUAL "")
  set(LOCKMARK_MAINTAINER "lockmark maintainers <lockmark@packages.invalid>")
endif()

# Programs. Servers preload the small libraries; lockmark finds them by its own place.
if(LOCKMARK_STATIC)
  # An RPATH, unlike a RUNPATH, also leads the libraries there to each other.
  target_link_options(lockmark PRIVATE -Wl,--disable-new-dtags)
  set_target_properties(lockmark PROPERTIES INSTALL_RPATH "\$ORIGIN/../lib/lockmark")
  install(TARGETS lockmark RUNTIME_DEPENDENCY_SET lm_needed RUNTIME DESTINATION bin)
  # glibc has to be the system's: its parts load each other by name, and the kernel its loader.
  install(RUNTIME_DEPENDENCY_SET lm_needed
    PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util|anl)\\.so"
    LIBRARY DESTINATION lib/lockmark)
  # MariaDB's library loads those by name, where a server asks for such a login.
  find_program(LOCKMARK_MARIADB_CONFIG mariadb_config REQUIRED)
  execute_process(COMMAND ${LOCKMARK_MARIADB_CONFIG} --plugindir OUTPUT_VARIABLE lm_plugins
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  foreach(plugin IN ITEMS caching_sha2_password client_ed25519 sha256_password)
    install(FILES ${lm_plugins}/${plugin}.so DESTINATION lib/lockmark/mariadb_plugins)
  endforeach()
else()
  install(TARGETS lockmark RUNTIME DESTINATION bin)
endif()
set(lm_lib lib/lockmark)
if(NOT LOCKMARK_STATIC AND CMAKE_LIBRARY_ARCHITECTURE)
  # Debian's own place. Of lib/lockmark CPack believes that ldconfig has to know it.
  set(lm_lib lib/${CMAKE_LIBRARY_ARCHITECTURE}/lockmark)
endif()
install(TARGETS lockmark_clock lockmark_links lockmark_session LIBRARY DESTINATION ${lm_lib})

# What lockmark says of itself is written when it is installed, by the lockmark that is installed.
install(CODE "set(lockmark \"$<TARGET_FILE:lockmark>\")
  set(made \"${lm_made}\")
  set(source \"${PROJECT_SOURCE_DIR}\")")
install(SCRIPT ${lm_package}/documents.cmake)
install(FILES ${lm_made}/lockmark.1.gz DESTINATION share/man/man1)
if(LOCKMARK_STATIC)
  set(lm_zsh share/zsh/site-functions)
else()
  set(lm_zsh share/zsh/vendor-completions)  # Debian's
endif()
install(FILES ${lm_made}/completion.bash DESTINATION share/bash-completion/completions
  RENAME lockmark)
install(FILES ${lm_made}/completion.zsh DESTINATION ${lm_zsh} RENAME _lockmark)
install(FILES ${lm_made}/completion.fish DESTINATION share/fish/vendor_completions.d
  RENAME lockmark.fish)

# Documents, and what Prometheus and Grafana read.
set(lm_doc share/doc/lockmark)
install(FILES README.md README.zh.md ${lm_made}/changelog.gz DESTINATION ${lm_doc})
install(DIRECTORY docs DESTINATION ${lm_doc} FILES_MATCHING PATTERN *.md PATTERN *.png)
install(DIRECTORY dashboards/ DESTINATION share/lockmark/dashboards FILES_MATCHING
  PATTERN *.json PATTERN METRICS.md PATTERN source EXCLUDE)
install(DIRECTORY deploy/prometheus DESTINATION share/lockmark
  FILES_MATCHING PATTERN *.yml PATTERN rules_test.yml EXCLUDE)
install(DIRECTORY deploy/grafana DESTINATION share/lockmark)
include(${lm_package}/copyright.cmake)
write_copyright(${lm_made}/copyright)
install(FILES ${lm_made}/copyright DESTINATION ${lm_doc})
if(LOCKMARK_STATIC)
  # Debian has its text; others may not.
  install(FILES LICENSE DESTINATION ${lm_doc})
  install(CODE "set(packages \"${lm_compiled_in}\")
  set(architecture ${CMAKE_LIBRARY_ARCHITECTURE})")
  install(SCRIPT ${lm_package}/licences.cmake)
else()
  # Each release of Debian needs its own .deb, and its upgrade the next one's.
  cmake_host_system_information(RESULT lm_release QUERY DISTRIB_VERSION_ID)
  set(lm_debian_revision 1+deb${lm_release})
  string(TIMESTAMP lm_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  configure_file(${lm_package}/changelog.Debian.in ${lm_made}/changelog.Debian @ONLY)
  install(FILES ${lm_made}/changelog.Debian.gz DESTINATION ${lm_doc})
endif()

set(CPACK_PACKAGE_NAME lockmark)
set(CPACK_PACKAGE_VENDOR lockmark)
set(CPACK_PACKAGE_CONTACT "${LOCKMARK_MAINTAINER}")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "benchmark distributed locks on real clusters")
set(CPACK_PACKAGE_DESCRIPTION_FILE ${lm_package}/description.txt)
file(READ ${CPACK_PACKAGE_DESCRIPTION_FILE} CPACK_PACKAGE_DESCRIPTION)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PROJECT_CONFIG_FILE ${lm_package}/cpack.cmake)
string(TOLOWER "linux-${CMAKE_SYSTEM_PROCESSOR}" lm_system)
set(CPACK_PACKAGE_FILE_NAME lockmark-${PROJECT_VERSION}-${lm_system})

# The servers that lockmark can start are a choice of its user.
execute_process(COMMAND bash -c ". deploy/shell.sh; printf '%s, ' \"\${server_packages[@]}\""
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE lm_servers COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE ", $" "" lm_servers "${lm_servers}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${lm_debian_revision})
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "${lm_servers}")

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_SUMMARY "Benchmark distributed locks on real clusters")
set(CPACK_RPM_PACKAGE_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_RPM_PACKAGE_GROUP Applications/Databases)
set(CPACK_RPM_PACKAGE_LICENSE "${lm_licences}")
# Its libraries are its own: nobody else may be given them, and it needs nobody else's.
set(CPACK_RPM_PACKAGE_AUTOREQPROV OFF)
execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE lm_glibc
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE " " " >= " CPACK_RPM_PACKAGE_REQUIRES "${lm_glibc}")
set(CPACK_RPM_SPEC_MORE_DEFINE "%define packager ${LOCKMARK_MAINTAINER}
%define _build_id_links none")
# Folders of others, in which it has a file.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/man /usr/share/man/man1
  /usr/share/bash-completion /usr/share/bash-completion/completions /usr/share/zsh
  /usr/share/zsh/site-functions /usr/share/fish /usr/share/fish/vendor_completions.d)
include(CPack)
