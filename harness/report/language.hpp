// The languages of the comparison table. English is what everything is written in; Chinese is
// translated from it, because many of those who choose among these locks read it.
//
// Names of locks, clients and options stay as they are: they are what one searches for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockmark::report {

enum class language : std::uint8_t { english, chinese };

// A heading, a state, a legend or a reason, in `to`. What has no translation stays English.
std::string translated(std::string_view english, language to);

// Columns that a terminal needs for the text: Chinese characters take two.
std::size_t display_width(std::string_view utf8);

}  // namespace lockmark::report
