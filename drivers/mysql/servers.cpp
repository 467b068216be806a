#include "drivers/mysql/servers.hpp"

#include <fmt/core.h>

#include "harness/driver.hpp"

namespace lockmark::mysql {
namespace {

[[noreturn]] void refuse(std::string_view what) {
  throw usage_error(
      "target: {}; expected mysql://user:password@host:port/database or mysql+galera://...", what);
}

}  // namespace

std::string endpoint::shown() const {
  return fmt::format("mysql://{}/{}", to_string(config::host_port{host, port}), database);
}

servers read_servers(std::string_view url) {
  const auto parsed = config::parse_target(url);
  if (!parsed) refuse(parsed.error().sentence);
  const config::target& t = *parsed;
  servers all;
  all.galera = t.scheme == "mysql+galera";
  if (!all.galera && t.scheme != "mysql") refuse("it is no mysql:// URL");
  if (t.path.empty()) refuse("the database is missing");
  const auto writers = t.query.find("writers");
  if (writers != t.query.end() && !all.galera) refuse("only mysql+galera has writers");
  all.all_write = writers != t.query.end() && writers->second == "all";
  if (!t.nat.empty()) refuse("nat is not for MySQL, whose servers do not tell of each other");
  if (!t.tls.server_name.empty()) {
    refuse("the client library compares certificates with the host's name only: no server-name");
  }
  for (const config::host_port& h : t.hosts) {
    all.hosts.push_back({.host = h.host,
                         .port = h.port,
                         .user = t.user.empty() ? "root" : t.user,
                         .password = t.password,
                         .database = t.path,
                         .tls = t.tls});
  }
  return all;
}

}  // namespace lockmark::mysql
