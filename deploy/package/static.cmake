# LOCKMARK_STATIC: a lockmark that runs where nothing but glibc is installed. What only lockmark
# uses is linked in; what other libraries use as well, or Debian has as a shared library only, is
# installed into lib/lockmark (package.cmake).
#
# libstdc++ is among the latter: fmt's and prometheus-cpp's shared libraries load it, and two copies
# of it in one process do not agree on exceptions and locales.
option(LOCKMARK_STATIC "Bring all libraries but glibc along" OFF)
if(NOT LOCKMARK_STATIC)
  return()
endif()

# The names that the drivers look for; what was found first stays.
find_library(ZOOKEEPER_ST libzookeeper_st.a REQUIRED)
find_library(LOCKMARK_YAML_ARCHIVE libyaml-cpp.a REQUIRED)
# yaml-cpp's package file knows the shared library only, by another name from version 0.8 on.
set(lm_yaml yaml-cpp)
if(TARGET yaml-cpp::yaml-cpp)
  set(lm_yaml yaml-cpp::yaml-cpp)
endif()
get_target_property(lm_yaml_configs ${lm_yaml} IMPORTED_CONFIGURATIONS)
foreach(config IN LISTS lm_yaml_configs)
  set_target_properties(${lm_yaml} PROPERTIES IMPORTED_LOCATION_${config} ${LOCKMARK_YAML_ARCHIVE})
endforeach()
