// Texts about the command line: scripts for completion in shells, and the manual page, from the
// templates of this folder. A script contains all names; lockmark itself does not run during
// completion.
#pragma once

#include <string>

#include "program/command_line.hpp"

namespace lockmark::cli {

// `shell`: "bash", "zsh" or "fish". `c` is from describe.
std::string completion_script(const std::string& shell, const json& c);

// lockmark(1), in the man macros that groff and mandoc read.
std::string man_page(const json& c);

// Text for within single quotes: nothing in it ends them.
std::string sh_text(const std::string& text);
std::string fish_text(const std::string& text);

// Text for a line of roff: nothing in it is taken for a request or an escape.
std::string roff_text(const std::string& text);

}  // namespace lockmark::cli
