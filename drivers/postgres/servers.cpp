#include "drivers/postgres/servers.hpp"

#include <fmt/core.h>

#include "harness/driver.hpp"

namespace lockmark::postgres {
namespace {

[[noreturn]] void refuse_target(std::string_view what) {
  throw usage_error("target: {}; expected postgres://user:password@host:port/database", what);
}

std::string sslmode_of(const config::target& t) {
  const auto chosen = t.query.find("sslmode");
  if (chosen != t.query.end()) return chosen->second;
  if (!t.tls.on) return "disable";
  return t.tls.verify ? "verify-full" : "require";
}

}  // namespace

std::string endpoint::shown() const {
  return fmt::format("postgres://{}/{}", to_string(config::host_port{host, port}), database);
}

std::vector<endpoint> read_servers(std::string_view url) {
  const auto parsed = config::parse_target(url);
  if (!parsed) refuse_target(parsed.error().sentence);
  const config::target& t = *parsed;
  if (t.scheme != "postgres" && t.scheme != "postgresql") refuse_target("it is no postgres:// URL");
  if (t.query.contains("writers")) refuse_target("one server is written to: no writers");
  if (!t.nat.empty()) {
    refuse_target("nat is not for PostgreSQL, whose servers do not tell of each other");
  }
  if (!t.tls.server_name.empty()) {
    refuse_target("libpq compares certificates with the host's name only: no server-name");
  }
  const std::string user = t.user.empty() ? "postgres" : t.user;
  std::vector<endpoint> all;
  for (const config::host_port& h : t.hosts) {
    all.push_back({.host = h.host,
                   .port = h.port,
                   .user = user,
                   .password = t.password,
                   .database = t.path.empty() ? user : t.path,
                   .sslmode = sslmode_of(t),
                   .tls = t.tls});
  }
  return all;
}

}  // namespace lockmark::postgres
