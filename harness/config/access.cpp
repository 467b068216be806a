#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>

#include "harness/config/target.hpp"

namespace lockmark::config {
namespace {

using outcome = std::optional<problem>;

constexpr std::string_view known_names =
    "password-env, password-file, sentinel-user, sentinel-password-env, sentinel-password-file, "
    "tls, sslmode, ca, cert, key, verify, server-name, nat, writers";

// A longer file holds no password; it may never end (/dev/zero).
constexpr std::size_t longest_secret = 64 * 1024;

// False for text that may be the password itself, given in place of the variable's name.
bool is_variable(std::string_view name) {
  return std::ranges::all_of(
      name, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

outcome from_variable(const std::string& name, std::string& secret) {
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') {
    return problem{fmt::format("wants its password from the variable {}, which is not set",
                               is_variable(name) ? name : "(no name of a variable)")};
  }
  secret = value;
  return std::nullopt;
}

// The file's text without trailing newlines, as every tool that reads such files takes it.
outcome from_file(const std::string& path, std::string& secret) {
  std::ifstream file(path);
  // A path without a folder may be the password itself, in the wrong place.
  const std::string shown = path.find('/') != path.npos || file.is_open() ? path : "a file";
  std::string text(longest_secret + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  // A directory opens but cannot be read.
  if (!file.is_open() || file.bad()) {
    return problem{fmt::format("wants its password from {}, which cannot be read", shown)};
  }
  if (text.size() > longest_secret) {
    return problem{fmt::format("wants its password from {}, which has more than {} bytes", shown,
                               longest_secret)};
  }
  secret = std::move(text);
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  if (secret.empty()) {
    return problem{fmt::format("wants its password from {}, which is empty", shown)};
  }
  return std::nullopt;
}

outcome read_switch(const std::string& name, const std::string& value, bool& to) {
  if (value != "yes" && value != "no") {
    return problem{fmt::format("has a query {} that is neither yes nor no", name)};
  }
  to = value == "yes";
  return std::nullopt;
}

// libpq's word for TLS. Its modes that may go on without TLS, or with it, are none: a run has to
// know what it measures.
outcome read_sslmode(std::string_view value, tls_access& tls) {
  constexpr std::array<std::string_view, 4> known{"disable", "require", "verify-ca", "verify-full"};
  if (std::ranges::find(known, value) == known.end()) {
    return problem{
        "has an sslmode that may go on without TLS, or is none; the known ones are disable, "
        "require, verify-ca, verify-full"};
  }
  tls.on = value != "disable";
  if (tls.on) tls.verify = value.starts_with("verify");
  return std::nullopt;
}

std::optional<host_port> read_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, status] = std::from_chars(digits.data(), end, port);
  if (status != std::errc{} || stop != end || port == 0) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  return host_port{std::string{host}, port};
}

outcome read_nat(std::string_view text, std::map<host_port, host_port>& to) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const auto arrow = pair.find('>');
    const auto from = read_address(pair.substr(0, arrow));
    const auto onto =
        arrow == std::string_view::npos ? std::nullopt : read_address(pair.substr(arrow + 1));
    if (!from || !onto) {
      return problem{
          fmt::format("has a nat entry {} that is not HOST:PORT>HOST:PORT", in_quotes(pair))};
    }
    to[*from] = *onto;
  }
  return std::nullopt;
}

outcome read_one(const std::string& name, const std::string& value, target& t) {
  if (name == "password-env") return from_variable(value, t.password);
  if (name == "password-file") return from_file(value, t.password);
  if (name == "sentinel-password-env") return from_variable(value, t.sentinel_password);
  if (name == "sentinel-password-file") return from_file(value, t.sentinel_password);
  if (name == "tls") return read_switch(name, value, t.tls.on);
  if (name == "sslmode") return read_sslmode(value, t.tls);
  if (name == "verify") return read_switch(name, value, t.tls.verify);
  if (name == "nat") return read_nat(value, t.nat);
  if (name == "writers") {
    if (value == "one" || value == "all") return std::nullopt;
    return problem{"has a query writers that is neither one nor all"};
  }
  const std::array<std::pair<std::string_view, std::string*>, 5> texts{{
      {"sentinel-user", &t.sentinel_user},
      {"ca", &t.tls.ca},
      {"cert", &t.tls.cert},
      {"key", &t.tls.key},
      {"server-name", &t.tls.server_name},
  }};
  for (const auto& [known, to] : texts) {
    if (known != name) continue;
    *to = value;
    return std::nullopt;
  }
  return problem{
      fmt::format("has an unknown name in its query; the known ones are {}", known_names)};
}

}  // namespace

std::optional<problem> read_access(target& t) {
  for (const auto& [name, value] : t.query) {
    if (auto wrong = read_one(name, value, t)) return wrong;
  }
  if (t.tls.cert.empty() != t.tls.key.empty()) {
    return problem{"has only one of cert and key in its query; a client certificate needs both"};
  }
  if (!t.tls.on && (!t.tls.ca.empty() || !t.tls.cert.empty() || !t.tls.verify)) {
    return problem{"has TLS options in its query, but neither a rediss scheme nor tls=yes"};
  }
  return std::nullopt;
}

}  // namespace lockmark::config
