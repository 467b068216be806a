// Intervals as bytes, without loss: decode(encode(i)) has equal histograms, counts and traffic.
//
// For two processes of the same build. Not a file format, so it has neither version nor byte order.
#pragma once

#include <string>
#include <string_view>

#include "harness/run/recorder.hpp"

namespace lockmark::run {

// Only counters in use: some kilobytes for half a second.
std::string encode(const interval& whole);

// REQUIRES: `into` is empty. Throws std::runtime_error for malformed bytes.
void decode(std::string_view bytes, interval& into);

}  // namespace lockmark::run
