// Name patterns as in shell globs: *, ? and [...]; a * also matches slashes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockmark {

// Matches the whole name.
bool matches_glob(const std::string& glob, std::string_view name);
bool matches_any(const std::vector<std::string>& globs, std::string_view name);

// Several globs, separated by blanks: "memory/* other/lock".
bool matches_any(std::string_view globs, std::string_view name);

}  // namespace lockmark
