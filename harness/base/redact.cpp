#include "harness/base/redact.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <functional>

namespace lockmark {
namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";
// Shorter words are not secrets, and occur in every sentence.
constexpr std::size_t shortest_echo = 4;

bool is_plain(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-+./~").find(c) != std::string_view::npos;
  });
}

// Cuts off the first word and the blanks around it.
std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(blanks));
  text.remove_prefix(word.size());
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return word;
}

void add_pieces(std::string_view word, std::vector<std::string>& pieces) {
  const auto add = [&](std::string_view piece) {
    if (piece.size() >= shortest_echo) pieces.emplace_back(piece);
  };
  add(word);
  // -psecret
  if (word.starts_with('-')) add(word.substr(std::min<std::size_t>(word.size(), 2)));
  while (!word.empty()) {
    const auto end = word.find_first_of("-=:/@,;'\"\\`$(){}[]<>|&");
    add(word.substr(0, end));
    word.remove_prefix(end == word.npos ? word.size() : end + 1);
  }
}

}  // namespace

bool names_a_secret(std::string_view name) {
  if (name.ends_with("-env") || name.ends_with("-file")) return false;
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* word : {"pass", "pwd", "secret", "token", "credential", "apikey", "api_key"}) {
    if (lower.find(word) != std::string::npos) return true;
  }
  return false;
}

std::string shown_command(std::string_view command) {
  const std::string_view first = take_word(command);
  if (!is_plain(first) || first.ends_with('/')) return std::string(hidden);
  std::string shown(first.substr(first.rfind('/') + 1));
  while (!command.empty()) {
    const std::string word(take_word(command));
    // An existing file is no secret: in "python3 my_lock.py" the script is the program.
    if (!is_plain(word) || access(word.c_str(), F_OK) != 0) {
      return shown.append(" ").append(hidden);
    }
    shown += " " + word;
  }
  return shown;
}

bool is_hidden(std::string_view command) {
  return command == hidden || command.ends_with(" ***");
}

std::string without_logins(std::string_view text) {
  std::string shown(text);
  for (auto at = shown.find("://"); at != shown.npos; at = shown.find("://", at + 3)) {
    const auto word_end = std::min(shown.find_first_of(blanks, at), shown.size());
    const auto login_end = shown.substr(0, word_end).rfind('@');
    const auto colon = shown.find(':', at + 3);
    if (login_end == shown.npos || colon == shown.npos || colon > login_end) continue;
    shown.replace(colon + 1, login_end - colon - 1, hidden);
  }
  return shown;
}

std::string without_secrets(std::string_view text, const std::vector<std::string>& secrets) {
  std::string shown(text);
  for (const std::string& secret : secrets) {
    if (secret.empty()) continue;
    for (auto at = shown.find(secret); at != shown.npos;
         at = shown.find(secret, at + hidden.size())) {
      shown.replace(at, secret.size(), hidden);
    }
  }
  return shown;
}

std::vector<std::string> echoes_of(std::string_view command) {
  std::vector<std::string> pieces;
  if (const auto program = take_word(command); !is_plain(program)) add_pieces(program, pieces);
  while (!command.empty()) {
    const std::string word(take_word(command));
    if (access(word.c_str(), F_OK) != 0) add_pieces(word, pieces);
  }
  std::ranges::stable_sort(pieces, std::ranges::greater{}, &std::string::size);
  return pieces;
}

std::string without_echo(std::string_view text, std::string_view command) {
  return without_secrets(text, echoes_of(command));
}

}  // namespace lockmark
