# Run at every install: the manual page and the completions, as the built lockmark prints them, and
# the changelogs. Reads `lockmark`, `made` and `source`.
function(run_into file)
  execute_process(COMMAND ${ARGN} OUTPUT_FILE ${made}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(MAKE_DIRECTORY ${made})
run_into(lockmark.1 ${lockmark} man)
foreach(shell IN ITEMS bash zsh fish)
  run_into(completion.${shell} ${lockmark} completion ${shell})
endforeach()
# -n: no name and no time, so that the same text is the same file.
run_into(lockmark.1.gz gzip -9nc ${made}/lockmark.1)
run_into(changelog.gz gzip -9nc ${source}/CHANGELOG.md)
if(EXISTS ${made}/changelog.Debian)
  run_into(changelog.Debian.gz gzip -9nc ${made}/changelog.Debian)
endif()
