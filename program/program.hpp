// lockmark: the command line. Messages for people go to stderr if stdout is data.
#pragma once

namespace lockmark::cli {

// What main() does, apart from it so that it is compiled in a batch with the commands. Returns the
// exit status, and throws nothing. Secrets in `argv` are overwritten by asterisks.
int run_program(int argc, char** argv);

}  // namespace lockmark::cli
