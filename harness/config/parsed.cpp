#include "harness/config/parsed.hpp"

#include <fmt/format.h>

#include "harness/base/redact.hpp"

namespace lockmark::config {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 60;
  const std::string open = without_logins(text);
  std::string shown = open.substr(0, longest);
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return fmt::format("'{}{}'", shown, open.size() > longest ? "..." : "");
}

problem expected(std::string_view what, std::string_view text, std::string_view reason) {
  return {fmt::format("expected {}, not {}{}{}", what, in_quotes(text),
                      reason.empty() ? "" : ", which ", reason)};
}

}  // namespace lockmark::config
