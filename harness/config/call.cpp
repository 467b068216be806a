#include "harness/config/call.hpp"

namespace lockmark::config {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::optional<call> split_call(std::string_view text) {
  const auto open = text.find('(');
  if (open == std::string_view::npos) return call{text, {}};
  if (text.back() != ')') return std::nullopt;
  call result{text.substr(0, open), {}};
  std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  if (inside.find_first_of("()") != std::string_view::npos) return std::nullopt;
  for (;;) {
    const auto comma = inside.find(',');
    const std::string_view argument = trimmed(inside.substr(0, comma));
    if (argument.empty()) return std::nullopt;
    result.arguments.push_back(argument);
    if (comma == std::string_view::npos) return result;
    inside.remove_prefix(comma + 1);
  }
}

}  // namespace lockmark::config
