// What everybody needs who starts processes.
#pragma once

#include <string>

namespace lockmark {

// Between fork and exec: an ignored signal would stay ignored, and a blocked one blocked. System
// calls only.
void restore_signals();

// "ended with exit status 3" or "was killed by signal 9", of a status as waitpid gives it.
std::string describe_status(int wait_status);

}  // namespace lockmark
