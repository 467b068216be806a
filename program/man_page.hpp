// The manual page lockmark(1), in the man macros that groff and mandoc read.
#pragma once

#include <string>

#include "program/command_line.hpp"

namespace lockmark::cli {

std::string man_page(const command_line& c, const catalogue& known, const std::string& version);

// Text for a line of roff: nothing in it is taken for a request or an escape.
std::string roff_text(std::string_view text);

}  // namespace lockmark::cli
