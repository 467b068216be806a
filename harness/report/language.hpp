// The languages of the comparison table. Everything is written in English; the table is translated
// to Chinese, because many people who choose among these locks read it.
//
// Names of locks, clients and options stay as they are: people search for them.
#pragma once

#include <string>
#include <string_view>

#include "harness/base/messages.hpp"

namespace lockmark::report {

// A heading, a state or a legend in `to`. Text without a translation stays English.
std::string translated(std::string_view english, language to);

// Columns that a terminal needs for the text: Chinese characters take two.
std::size_t display_width(std::string_view utf8);

}  // namespace lockmark::report
