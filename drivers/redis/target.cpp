#include "drivers/redis/target.hpp"

#include <fmt/format.h>

#include <charconv>

#include "harness/driver.hpp"

namespace lockmark::redis {
namespace {

constexpr std::string_view expected =
    "; expected redis://[user:pass@]host[:port][/db], special characters of user and pass as %XX";

[[noreturn]] void refuse(std::string_view what) {
  throw usage_error(fmt::format("the Redis URL {}{}", what, expected));
}

template <class Number>
Number number_in(std::string_view text, Number least, Number most, std::string_view what,
                 int base) {
  Number n{};
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, n, base);
  if (read.ec != std::errc{} || read.ptr != end || n < least || n > most) refuse(what);
  return n;
}

std::string percent_decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    const auto digits = text.substr(i + 1, 2);
    constexpr std::string_view wrong = "has a % without two hexadecimal digits";
    if (digits.size() != 2) refuse(wrong);
    plain += static_cast<char>(number_in(digits, 0, 255, wrong, 16));
    i += 2;
  }
  return plain;
}

void read_login(std::string_view text, target& to) {
  const auto colon = text.find(':');
  if (colon == text.npos) refuse("has a user without a password");
  to.user = percent_decoded(text.substr(0, colon));
  to.password = percent_decoded(text.substr(colon + 1));
  if (to.password.empty()) refuse("has an empty password");
}

void read_address(std::string_view text, target& to) {
  const bool bracketed = text.starts_with('[');  // an IPv6 address
  const auto host_end = bracketed ? text.find(']') : text.rfind(':');
  if (bracketed && host_end == text.npos) refuse("has an unclosed [");
  to.host = bracketed ? text.substr(1, host_end - 1) : text.substr(0, host_end);
  auto rest = bracketed               ? text.substr(host_end + 1)
              : host_end == text.npos ? std::string_view{}
                                      : text.substr(host_end);
  if (to.host.empty()) refuse("names no host");
  if (to.host.find(',') != to.host.npos) refuse("names several hosts");
  if (!bracketed && to.host.find(':') != to.host.npos) refuse("has an IPv6 address without []");
  if (rest.empty()) return;
  constexpr std::string_view wrong = "has a port that is not 1 to 65535";
  if (!rest.starts_with(':')) refuse(wrong);
  to.port = number_in<std::uint16_t>(rest.substr(1), 1, 65535, wrong, 10);
}

}  // namespace

std::string target::name() const {
  const bool bracketed = host.find(':') != host.npos;
  return fmt::format("redis://{}{}{}:{}{}", bracketed ? "[" : "", host, bracketed ? "]" : "", port,
                     db == 0 ? "" : fmt::format("/{}", db));
}

target parse_target(std::string_view url) {
  constexpr std::string_view scheme = "redis://";
  if (!url.starts_with(scheme)) {
    refuse(
        "does not begin with redis://; TLS, Sentinel, Cluster and independent masters are not "
        "supported yet");
  }
  url.remove_prefix(scheme.size());
  target to;
  const auto at = url.rfind('@');
  if (at != url.npos) {
    read_login(url.substr(0, at), to);
    url.remove_prefix(at + 1);
  }
  const auto slash = url.find('/');
  if (slash != url.npos) {
    const auto db = url.substr(slash + 1);
    if (!db.empty()) to.db = number_in(db, 0, 1'000'000, "has a db that is not a number", 10);
    url = url.substr(0, slash);
  }
  read_address(url, to);
  return to;
}

}  // namespace lockmark::redis
