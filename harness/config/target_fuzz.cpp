// Any text as a target: parse_target throws nothing, and the redacted form never contains the
// password. In the seeds the password is PASSWORD.
#include <cassert>
#include <cstdint>

#include "harness/config/target.hpp"

namespace lockmark::config {
namespace {

constexpr std::string_view secret = "PASSWORD";

bool holds(std::string_view text) {
  return text.find(secret) != std::string_view::npos;
}

// True if the secret is in a command but not in its program's name.
bool is_argument_of(std::string_view command) {
  const auto at = command.find(secret);
  const auto program = command.find_first_not_of(" \t\r\n\v\f");
  return at != command.npos && command.find_first_of(" \t\r\n\v\f=:'\"", program) < at;
}

bool is_secret(const target& t) {
  if (holds(t.scheme) || holds(t.user) || t.query.size() > 0) return false;
  if (t.scheme == "exec") return is_argument_of(t.path);
  return holds(t.password);
}

void check_shown(const target& t, bool once) {
  const std::string shown = t.redacted();
  assert(!once || !is_secret(t) || !holds(shown));
  const std::string_view behind = std::string_view(shown).substr(t.scheme.size());
  const bool one_part =
      t.password.size() >= 4 && t.password.find_first_of("*@:,/?=&") == t.path.npos;
  assert(!one_part || t.scheme == "exec" || behind.find(t.password) == behind.npos);
  const auto again = parse_target(shown);
  // A target with a password, or text that could be one, is shown in part only.
  const bool hides = !t.password.empty() || t.user.find(':') != t.user.npos;
  if (t.scheme == "exec" || !t.query.empty() || hides) return;
  assert(again && again->hosts == t.hosts && again->path == t.path && again->user == t.user);
  assert(again->redacted() == shown);
}

}  // namespace
}  // namespace lockmark::config

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockmark::config;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto first = text.find(secret);
  const bool once = first != text.npos && text.find(secret, first + 1) == text.npos;
  const auto read = parse_target(text);
  if (read) {
    check_shown(*read, once);
  } else {
    assert(!read.error().sentence.empty());
    assert(text.find('?') != text.npos || !holds(read.error().sentence));
  }
  return 0;
}
