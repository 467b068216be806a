// Names by pattern, as a shell matches file names: *, ? and [...]; a * matches slashes as well.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockmark {

// The whole name.
bool matches_glob(const std::string& glob, std::string_view name);
bool matches_any(const std::vector<std::string>& globs, std::string_view name);

// "memory/* other/lock", with blanks between them.
bool matches_any(std::string_view globs, std::string_view name);

}  // namespace lockmark
