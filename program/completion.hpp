// Completion of the command line in shells, as the script that the shell reads. The script holds
// all names; lockmark is not asked while somebody types.
#pragma once

#include <string>

#include "program/command_line.hpp"

namespace lockmark::cli {

std::string bash_completion(const command_line& c);
std::string zsh_completion(const command_line& c);
std::string fish_completion(const command_line& c);

// In single quotes, as bash and zsh read them.
std::string shell_quoted(std::string_view text);

}  // namespace lockmark::cli
