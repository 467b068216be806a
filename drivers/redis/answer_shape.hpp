// What the answer to a command of ours must look like, and how an answer is shown to people. Values
// only: whoever asked turns a wrong shape into no_server.
#pragma once

#include <string>
#include <string_view>

#include "drivers/redis/resp.hpp"

namespace lockmark::redis {

// Whether `r`, which is no error, can be the answer to this command (in RESP). True for commands
// whose answers no lock depends on.
bool is_answer_to(std::string_view command, const reply& r);

// "the number 7", "a list of 3", "the text 'abc'".
std::string describe(const reply& r);

// What a server says, fit for a sentence: at most 200 bytes of it, in one line.
std::string excerpt(std::string_view said);

}  // namespace lockmark::redis
