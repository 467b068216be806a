// Shell completion of the command line, as a script for the shell. The script contains all names;
// lockmark itself does not run during completion.
#pragma once

#include <string>

#include "program/command_line.hpp"

namespace lockmark::cli {

std::string bash_completion(const command_line& c);
std::string zsh_completion(const command_line& c);
std::string fish_completion(const command_line& c);

// In single quotes, for bash and zsh.
std::string shell_quoted(std::string_view text);

}  // namespace lockmark::cli
