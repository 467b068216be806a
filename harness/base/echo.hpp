// The words of a command that without_echo (redact.hpp) removes from its output; for callers that
// read the output line by line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockmark {

// The words after the program, and their parts, long ones first.
std::vector<std::string> echoes_of(std::string_view command);

}  // namespace lockmark
