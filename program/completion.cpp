#include "program/completion.hpp"

#include <fmt/core.h>

namespace lockmark::cli {

extern const lockmark::templates::texts templates;

namespace {

// For a description or a message of zsh's _arguments and _describe: without their markup.
std::optional<std::string> spec(const std::string& format, const json& value,
                                const templates::lookup&) {
  if (format != "spec") return std::nullopt;
  std::string safe;
  for (const char c : value.is_string() ? value.get<std::string>() : value.dump()) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') safe += '\\';
    safe += c == '\n' ? ' ' : c;
  }
  return safe;
}

}  // namespace

std::string completion_script(const std::string& shell, const json& c) {
  const templates::kind sh{templates, sh_text, spec};
  const templates::kind fish{templates, fish_text};
  const std::string name = fmt::format("completion_{}", shell);
  return templates::filled(shell == "fish" ? fish : sh, name, c) + "\n";
}

std::string man_page(const json& c) {
  return templates::filled({templates, roff_text}, "man_page", c) + "\n";
}

std::string sh_text(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return safe;
}

// fish knows two escapes in single quotes.
std::string fish_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'' || c == '\\') safe += '\\';
    safe += c == '\n' ? ' ' : c;
  }
  return safe;
}

std::string roff_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    const bool begins = safe.empty() || safe.back() == '\n';
    switch (c) {
      case '\\': safe += "\\e"; break;
      case '-': safe += "\\-"; break;
      case '"': safe += "\\(dq"; break;
      case '\'': safe += "\\(aq"; break;
      case '`': safe += "\\(ga"; break;
      case '^': safe += "\\(ha"; break;
      case '~': safe += "\\(ti"; break;
      case '.': safe += begins ? "\\&." : "."; break;
      case '\n': safe += begins ? "" : "\n"; break;
      default: safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return safe;
}

}  // namespace lockmark::cli
