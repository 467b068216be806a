// Arbitrary input from users and programs: the password, marked in the seeds as PASSWORD, never
// shows. Redaction is idempotent.
#include <unistd.h>

#include <cassert>
#include <cstdint>

#include "harness/base/redact.hpp"

namespace {

using namespace lockmark;

constexpr std::string_view secret = "PASSWORD";
constexpr std::string_view blanks = " \t\r\n\v\f";

bool holds(std::string_view text) {
  return text.find(secret) != text.npos;
}

bool once(std::string_view text) {
  const auto first = text.find(secret);
  return first != text.npos && text.find(secret, first + 1) == text.npos;
}

// Whether the only secret is in the login of a URL: SCHEME://USER:PASSWORD@.
bool is_in_login(std::string_view text) {
  const auto at = text.find(secret);
  const auto begin = text.find_last_of(blanks, at) + 1;
  const std::string_view word = text.substr(begin, text.find_first_of(blanks, at) - begin);
  const auto slashes = word.find("://");
  const auto inside = at - begin;
  return slashes != word.npos && word.find(':', slashes + 3) < inside &&
         word.find('@', inside) != word.npos;
}

void check_command(std::string_view command) {
  const std::string shown = shown_command(command);
  assert(!shown.empty() && shown_command(shown) == shown);
  const auto first = std::min(command.find_first_not_of(blanks), command.size());
  const auto rest = std::min(command.find_first_of(blanks, first), command.size());
  assert(holds(command.substr(first, rest - first)) || !holds(shown));
  // Of the other words only file names are shown.
  const std::string last = shown.substr(shown.rfind(' ') + 1);
  assert(command.find_first_not_of(blanks, rest) == command.npos || is_hidden(shown) ||
         access(last.c_str(), F_OK) == 0);
}

void check_text(std::string_view text) {
  const std::string shown = without_logins(text);
  assert(!once(text) || !is_in_login(text) || !holds(shown));
  assert(without_logins(shown) == shown);
  assert(!holds(without_secrets(text, {std::string{secret}})));
}

}  // namespace

// Two lines: a command, and its output.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const std::string_view command = text.substr(0, text.find('\n'));
  check_command(text);
  check_text(text);
  names_a_secret(command);
  const std::string said = without_echo(text.substr(command.size()), command);
  // The first word is the program, which may be repeated.
  const bool given = command.find_first_not_of(blanks) + 10 < command.size();
  assert(!given || !command.ends_with(" -pPASSWORD") || !holds(said));
  return 0;
}
