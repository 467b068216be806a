// What is on the other side of a stream: a terminal, and how wide it is.
#pragma once

#include <cstddef>
#include <cstdio>

namespace lockmark::cli {

bool is_terminal(std::FILE* stream);

// Columns of the terminal; 200 for a pipe, where nothing has to fit.
std::size_t width_of(std::FILE* stream);

}  // namespace lockmark::cli
