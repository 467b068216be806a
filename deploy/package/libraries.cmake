# The libraries that lockmark is made of: one table, from which come `lockmark --version --verbose`
# and the copyright file of the packages.
#
# name | Debian package | how it gets in | licence (SPDX) | copyright
#   source  compiled in, from headers, or embedded, as Chart.js is
#   own     nothing but lockmark's own code uses it; linked in by LOCKMARK_STATIC
#   shared  other libraries use it as well, or Debian has no archive of it: always a shared library
set(lm_mysql_client
  "MariaDB Connector/C|libmariadb-dev|shared|LGPL-2.1-or-later|2012-2023 MariaDB Corporation AB")
if(LOCKMARK_MYSQL_CLIENT STREQUAL mysql)
  set(lm_mysql_client
    "MySQL client library|libmysqlclient-dev|shared|GPL-2.0-only|2000-2026 Oracle")
endif()
set(lm_libraries
  "Asio|libasio-dev|source|BSL-1.0|2003-2022 Christopher M. Kohlhoff"
  "CLI11|libcli11-dev|source|BSD-3-Clause|2017-2022 University of Cincinnati"
  "JSON for Modern C++|nlohmann-json3-dev|source|MIT|2013-2022 Niels Lohmann"
  "Mustache|libkainjow-mustache-dev|source|BSL-1.0|2015-2020 Kevin Wojniak"
  "Chart.js|libjs-chart.js|source|MIT|2014-2022 Chart.js Contributors"
  "yaml-cpp|libyaml-cpp-dev|own|MIT|2008-2015 Jesse Beder"
  "ZooKeeper C client|libzookeeper-st-dev|own|Apache-2.0|2009-2022 The Apache Software Foundation"
  "fmt|libfmt-dev|shared|MIT|2012-2022 Victor Zverovich"
  "prometheus-cpp|prometheus-cpp-dev|shared|MIT|2016-2022 Jupp Mueller and Gregor Jasny"
  "Protocol Buffers|libprotobuf-dev|shared|BSD-3-Clause|2008-2022 Google Inc."
  "nghttp2|libnghttp2-dev|shared|MIT|2012-2022 Tatsuhiro Tsujikawa"
  "curl|libcurl4-openssl-dev|shared|curl|1996-2023 Daniel Stenberg"
  "OpenSSL|libssl-dev|shared|Apache-2.0|1995-2023 The OpenSSL Project Authors"
  "${lm_mysql_client}"
  "libpq|libpq-dev|shared|PostgreSQL|1996-2023 PostgreSQL Global Development Group"
  "zlib|zlib1g-dev|shared|Zlib|1995-2022 Jean-loup Gailly and Mark Adler")
if(LOCKMARK_AGENTS)
  list(APPEND lm_libraries
    "gRPC|libgrpc++-dev|shared|Apache-2.0|2014-2022 The gRPC Authors"
    "Abseil|libabsl-dev|shared|Apache-2.0|2017-2022 The Abseil Authors")
endif()

# library_version(PACKAGE RESULT): as Debian has it, or "unknown" elsewhere.
function(library_version package result)
  set(version "")
  find_program(LOCKMARK_DPKG_QUERY dpkg-query)
  if(LOCKMARK_DPKG_QUERY)
    execute_process(COMMAND ${LOCKMARK_DPKG_QUERY} -W -f=\${Version} ${package}
      OUTPUT_VARIABLE version ERROR_QUIET)
  endif()
  # The epoch says nothing about the library.
  string(REGEX REPLACE "^[0-9]+:" "" version "${version}")
  if(version STREQUAL "")
    set(version unknown)
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# write_libraries(FILE): the rows of the table, as initialisers of lockmark::cli::library.
function(write_libraries file)
  set(rows "")
  foreach(row IN LISTS lm_libraries)
    string(REPLACE "|" ";" row "${row}")
    list(GET row 0 name)
    list(GET row 1 package)
    list(GET row 2 way)
    list(GET row 3 licence)
    library_version(${package} version)
    set(linked shared)
    if(way STREQUAL source OR (way STREQUAL own AND LOCKMARK_STATIC))
      set(linked "compiled in")
    endif()
    string(APPEND rows "{\"${name}\", \"${version}\", \"${linked}\", \"${licence}\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "${rows}" @ONLY)
endfunction()
