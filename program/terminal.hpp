// What is on the other side of a stream: a terminal, how wide it is, and what it understands.
#pragma once

#include <cstddef>
#include <cstdio>

#include "harness/report/style.hpp"

namespace lockmark::cli {

struct screen {
  bool in_place = false;  // a line can be drawn over
  bool colours = false;
};

// `term` and `no_color`: the variables of the environment, null where they are not set. A dumb
// terminal understands nothing but plain lines; NO_COLOR, if it is not empty, forbids colours
// (https://no-color.org).
screen screen_for(bool terminal, const char* term, const char* no_color);
screen screen_of(std::FILE* stream);

// Red, yellow and green, or nothing.
report::style style_of(const screen& s);

// Columns of the terminal; 200 for a pipe, where nothing has to fit.
std::size_t width_of(std::FILE* stream);

}  // namespace lockmark::cli
