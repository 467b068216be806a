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

// The manual page lockmark(1), in the man macros that groff and mandoc read.
std::string man_page(const command_line& c, const catalogue& known, const std::string& version);

// Text for a line of roff: nothing in it is taken for a request or an escape.
std::string roff_text(std::string_view text);

}  // namespace lockmark::cli
