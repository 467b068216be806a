// What a command may repeat of its own words, which without_echo (redact.hpp) leaves out, for those
// who read what it says line by line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockmark {

// Its words behind the program, and their parts, long ones first.
std::vector<std::string> echoes_of(std::string_view command);

}  // namespace lockmark
