#include "harness/report/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lockmark::report {
namespace {

// "<= 5 ms" is not an element, "</details>" and "<b>" are.
bool begins_element(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' || c == '!' || c == '?';
}

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      safe += ' ';
    } else if (c == '|') {
      safe += "\\|";
    } else if (c == '<' && i + 1 < text.size() && begins_element(text[i + 1])) {
      safe += "&lt;";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string markdown_block(std::string_view text, std::string_view syntax) {
  std::string fence = "```";
  while (text.find(fence) != std::string_view::npos) fence += '`';
  const bool ends = text.empty() || text.back() == '\n';
  return fmt::format("{}{}\n{}{}{}\n", fence, syntax, text, ends ? "" : "\n", fence);
}

std::string markdown_cut(std::string text) {
  constexpr std::string_view sentence = "\n\nThe rest is left out here for its length.\n";
  if (text.size() <= most_markdown_bytes) return text;
  const std::size_t room = most_markdown_bytes - sentence.size();
  std::size_t end = text.rfind('\n', room);
  if (end == std::string::npos) {
    // Do not cut inside a character.
    end = room;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  }
  text.resize(end);
  text += sentence;
  return text;
}

}  // namespace lockmark::report
