#include "drivers/mysql/endpoint.hpp"

#include <fmt/core.h>

#include <charconv>

#include "harness/driver.hpp"

namespace lockmark::mysql {
namespace {

[[noreturn]] void refuse(std::string_view what) {
  throw usage_error(
      fmt::format("target: {}; expected mysql://user:password@host:port/database", what));
}

std::string decoded(std::string_view text, std::string_view part) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    unsigned byte = 0;
    const char* const first = text.data() + i + 1;
    if (i + 2 >= text.size() || std::from_chars(first, first + 2, byte, 16).ptr != first + 2) {
      refuse(fmt::format("the {} has a '%' without two hexadecimal digits behind it", part));
    }
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

void read_login(std::string_view login, endpoint& e) {
  const auto colon = login.find(':');
  e.user = decoded(login.substr(0, colon), "user");
  if (e.user.empty()) refuse("the user before '@' is empty");
  if (colon != login.npos) e.password = decoded(login.substr(colon + 1), "password");
}

std::uint16_t read_port(std::string_view digits) {
  unsigned port = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, port);
  if (error != std::errc{} || stopped != end || port == 0 || port > 65535) {
    refuse(fmt::format("port '{}' is not a number from 1 to 65535", digits));
  }
  return static_cast<std::uint16_t>(port);
}

void read_place(std::string_view place, endpoint& e) {
  if (place.find(',') != place.npos) refuse("one host is meant, not a list");
  const bool bracketed = place.starts_with('[');
  const auto end = bracketed ? place.find(']') : place.find(':');
  if (bracketed && end == place.npos) refuse("'[' without ']' in the host");
  e.host = place.substr(bracketed ? 1 : 0, bracketed ? end - 1 : end);
  if (e.host.empty()) refuse("the host is missing");
  if (end == place.npos) return;
  const std::string_view rest = place.substr(bracketed ? end + 1 : end);
  if (rest.empty()) return;
  if (!rest.starts_with(':')) refuse("only ':port' may follow the host");
  e.port = read_port(rest.substr(1));
}

}  // namespace

std::string endpoint::shown() const {
  const bool v6 = host.find(':') != host.npos;
  return fmt::format("mysql://{}{}{}:{}/{}", v6 ? "[" : "", host, v6 ? "]" : "", port, database);
}

endpoint parse_endpoint(std::string_view url) {
  constexpr std::string_view scheme = "mysql://";
  if (!url.starts_with(scheme)) refuse("it does not begin with 'mysql://'");
  url.remove_prefix(scheme.size());
  endpoint e;
  e.user = "root";
  // The database begins at the first '/' behind the login, whose password may hold one unencoded.
  const auto at = url.rfind('@');
  if (at != url.npos) {
    read_login(url.substr(0, at), e);
    url.remove_prefix(at + 1);
  }
  const auto slash = url.find('/');
  if (slash == url.npos || slash + 1 == url.size()) refuse("the database is missing");
  read_place(url.substr(0, slash), e);
  e.database = decoded(url.substr(slash + 1), "database");
  if (e.database.find_first_of("/?#") != e.database.npos) {
    refuse("nothing may follow the database's name");
  }
  return e;
}

}  // namespace lockmark::mysql
