// The code between fork and exec, and the whole guard: system calls only, because the process that
// was forked may have had other threads.
#pragma once

namespace lockmark::exec {

struct guarded {
  char** argv;  // argv[0] is looked up in PATH
  int in;       // the program's standard streams
  int out;
  int err;
  // The end that feeds `in`. The guard keeps it open: a program whose input ends gives its locks
  // back, which nobody does whose process is killed together with the program.
  int feed;
  int life;  // each byte is a signal for the group, the end is SIGKILL
};

// Becomes the guard of a program that it starts. Ends with the program's status.
[[noreturn]] void be_guard(const guarded& what);

}  // namespace lockmark::exec
