// Text helpers shared by the rules: lines and words. Knows no rule.
#pragma once

#include <string_view>
#include <vector>

namespace lockmark::tidy {

// Without their line ends; the text must outlive them.
inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return lines;
}

inline bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The first position at or after `from` of the whole word, with no letter, digit or underscore
// beside it; or npos.
inline std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0) {
  for (auto at = text.find(word, from); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) {
      return at;
    }
  }
  return std::string_view::npos;
}

}  // namespace lockmark::tidy
