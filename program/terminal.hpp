// Properties of an output stream: whether it is a terminal, its width and capabilities.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "harness/report/style.hpp"

namespace lockmark::cli {

struct screen {
  bool in_place = false;  // a line can be overwritten
  bool colours = false;
};

// `term` and `no_color`: the environment variables, null if not set. A dumb terminal only
// understands plain lines; a non-empty NO_COLOR forbids colours (https://no-color.org).
screen screen_for(bool terminal, const char* term, const char* no_color);
screen screen_of(std::FILE* stream);

// Red, yellow and green, or nothing.
report::style style_of(const screen& s);

// To stdout, at once: in a file that both go to, what stderr says next then stands below.
void print_result(std::string_view text);

// What was asked for, or else text on a terminal and Markdown in a file or a pipe.
std::string page_format(const std::string& asked);

// Columns of the terminal; 200 for a pipe, where width does not matter.
std::size_t width_of(std::FILE* stream);

}  // namespace lockmark::cli
