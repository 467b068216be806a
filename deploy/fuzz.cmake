# Fuzzers: libFuzzer, under ASan and UBSan. ./check finds the compiler, builds and runs them: for its
# few seconds beside the unit tests, from the same libraries (preset `dev`), and for --fuzz optimised
# (preset `fuzz`).
option(LOCKMARK_FUZZ "Build the fuzzers, instrumented for libFuzzer" OFF)

if(LOCKMARK_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
    message(FATAL_ERROR "Fuzzers need clang 16 or newer, not ${CMAKE_CXX_COMPILER_ID} "
      "${CMAKE_CXX_COMPILER_VERSION}. Say which: -DCMAKE_CXX_COMPILER=clang++-19")
  endif()
  # The assertions are libstdc++'s, of views and containers, where no sanitizer sees a mistake.
  target_compile_definitions(lm_flags INTERFACE _GLIBCXX_ASSERTIONS)
endif()

# One file for each fuzzer says what it runs on; see deploy/fuzz.sh.
set(lm_fuzzers ${CMAKE_BINARY_DIR}/fuzzers)
file(REMOVE_RECURSE ${lm_fuzzers})

# lockmark_fuzz(NAME SOURCES... [FUZZES libs...] [USES libs...] [SEEDS files...] [LONGEST bytes]): one
# fuzzer, which is named as its main source is. Its sources and FUZZES are optimised, and libFuzzer
# sees where an input leads in them; in USES only in the preset fuzz, because of what that would cost
# tests. Lines of NAME.seeds, where it exists, and whole files of SEEDS are what it starts with.
function(lockmark_fuzz name)
  if(NOT LOCKMARK_FUZZ)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LONGEST" "SOURCES;FUZZES;USES;SEEDS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE lm_flags ${arg_FUZZES} ${arg_USES})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  foreach(target IN LISTS name arg_FUZZES)
    target_compile_options(${target} PRIVATE -O1 -fsanitize=fuzzer-no-link)
  endforeach()
  if(NOT arg_LONGEST)
    set(arg_LONGEST 512)
  endif()
  set(seeds "")
  foreach(seed IN ITEMS ${name}.seeds LISTS arg_SEEDS)
    get_filename_component(seed ${seed} ABSOLUTE)
    if(EXISTS ${seed})
      string(APPEND seeds "${seed}\n")
    endif()
  endforeach()
  file(WRITE ${lm_fuzzers}/${name} "${arg_LONGEST}\n${seeds}")
endfunction()
