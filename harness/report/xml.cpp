#include <cstddef>
#include <cstdint>

#include "harness/report/text.hpp"

namespace lockmark::report {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

struct character {
  std::uint32_t code = 0;
  std::size_t length = 0;  // in bytes; 0: invalid UTF-8
};

// The first character of a non-empty text (RFC 3629).
character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  std::uint32_t code = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  return code < least[length] ? character{} : character{code, length};
}

// The production Char of XML 1.0.
bool is_allowed(std::uint32_t c) {
  return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0xd7ff) ||
         (c >= 0xe000 && c <= 0xfffd) || (c >= 0x10000 && c <= 0x10ffff);
}

std::string_view escaped(std::uint32_t c) {
  switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&apos;";
    case '\r': return "&#13;";
    default: return {};
  }
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const character c = first_of(text);
    if (c.length == 0 || !is_allowed(c.code)) {
      safe += replacement;
    } else if (const std::string_view other = escaped(c.code); !other.empty()) {
      safe += other;
    } else {
      safe += text.substr(0, c.length);
    }
    text.remove_prefix(c.length == 0 ? 1 : c.length);
  }
  return safe;
}

}  // namespace lockmark::report
