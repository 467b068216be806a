// The settings of servers: their files and command lines, from the templates of this folder
// (*.mustache, see harness/templates/fill.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/templates/fill.hpp"

namespace lockmark::local {

using templates::json;

// The text of a file.
std::string filled(std::string_view name, const json& data);

// Appends the words of a command line. A line of its template is a word, or an option and its value
// after a blank ("--port 6379"), or says why ("# ...").
void add_words(std::vector<std::string>& argv, std::string_view name, const json& data);

}  // namespace lockmark::local
