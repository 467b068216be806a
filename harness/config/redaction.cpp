#include "harness/config/redaction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/base/redact.hpp"
#include "harness/config/scheme.hpp"
#include "harness/config/target.hpp"

namespace lockmark::config {
namespace {

// "1.command" of the group "faults", or "faults.1.command".
bool names_a_command(std::string_view key) {
  return key.ends_with(".command") || key.ends_with(".undo");
}

std::string redacted_value(std::string_view name, std::string_view value) {
  if (names_a_command(name)) return shown_command(value);
  if (names_a_secret(name)) return std::string(hidden);
  if (const auto target = parse_target(value)) return target->redacted();
  // Text that is neither a target nor a plain value may contain a target or a command.
  constexpr std::array<std::string_view, 4> signs{"://", "@", ".command", ".undo"};
  const auto has = [value](std::string_view sign) { return value.find(sign) != value.npos; };
  const bool doubtful =
      std::ranges::any_of(signs, has) || std::ranges::any_of(schemes(), [&](const scheme& s) {
        return s.form == target_form::command && has(fmt::format("{}:", s.name));
      });
  return std::string(doubtful ? hidden : value);
}

}  // namespace

job redacted(job whole) {
  for (auto& [key, text] : whole.faults) {
    if (names_a_command(key)) text = shown_command(text);
  }
  for (auto& [name, value] : whole.options) {
    const auto target = parse_target(value);
    if (names_a_secret(name)) {
      value = hidden;
    } else if (name == "command") {
      value = shown_command(value);
    } else {
      value = target ? target->redacted() : without_logins(value);
    }
  }
  return whole;
}

std::string hidden_command(const job& read) {
  for (const auto& [key, text] : read.faults) {
    if (names_a_command(key) && is_hidden(text)) return "faults." + key;
  }
  return {};
}

std::string redacted_argument(std::string_view word) {
  if (const auto target = parse_target(word)) return target->redacted();
  const auto equals = word.find('=');
  const auto key = word.substr(0, equals);
  const bool is_key = key.find_first_of(": @\t\n") == key.npos;
  if (equals == word.npos || !is_key) {
    const bool odd = word.starts_with("faults.") && word.find(' ') != word.npos;
    return odd ? std::string(hidden) : redacted_value("", word);
  }
  const auto value = word.substr(equals + 1);
  const bool nested = key.starts_with("--");
  return std::string(key) + '=' + (nested ? redacted_argument(value) : redacted_value(key, value));
}

}  // namespace lockmark::config
