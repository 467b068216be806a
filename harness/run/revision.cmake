# Writes HEADER with the git revision of SOURCE, and only if it changed. Runs in every build, because
# a revision noted when CMake was configured would be wrong after the next commit.
execute_process(
  COMMAND git describe --always --abbrev=40 --exclude=* --dirty
  WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR described STREQUAL "")
  set(described unknown)
endif()
set(dirty false)
if(described MATCHES "-dirty$")
  set(dirty true)
endif()
string(REGEX REPLACE "-dirty$" "" revision "${described}")
file(CONFIGURE OUTPUT ${HEADER} CONTENT
"#pragma once
#define LOCKMARK_GIT_REVISION \"${revision}\"
#define LOCKMARK_GIT_DIRTY ${dirty}
")
