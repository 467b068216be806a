// An interval as bytes, exactly: decode(encode(i)) has equal histograms, counts and traffic.
//
// For two processes of one build. It is no file format, so it has neither version nor byte order.
#pragma once

#include <string>
#include <string_view>

#include "harness/run/recorder.hpp"

namespace lockmark::run {

// Counters in use only: some kilobytes for half a second.
std::string encode(const interval& whole);

// REQUIRES: `into` is empty. Throws std::runtime_error for bytes that are no interval.
void decode(std::string_view bytes, interval& into);

}  // namespace lockmark::run
