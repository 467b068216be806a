#include "harness/base/glob.hpp"

#include <fnmatch.h>

#include <algorithm>

namespace lockmark {

bool matches_glob(const std::string& glob, std::string_view name) {
  return fnmatch(glob.c_str(), std::string(name).c_str(), 0) == 0;
}

bool matches_any(const std::vector<std::string>& globs, std::string_view name) {
  return std::ranges::any_of(globs, [&](const auto& glob) { return matches_glob(glob, name); });
}

bool matches_any(std::string_view globs, std::string_view name) {
  while (!globs.empty()) {
    const auto end = std::min(globs.find(' '), globs.size());
    const std::string glob(globs.substr(0, end));
    if (!glob.empty() && matches_glob(glob, name)) return true;
    globs.remove_prefix(std::min(globs.size(), end + 1));
  }
  return false;
}

}  // namespace lockmark
