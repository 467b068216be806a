#include "drivers/zookeeper/servers.hpp"

#include <fmt/format.h>

#include "harness/base/lists.hpp"
#include "harness/driver.hpp"

namespace lockmark::zookeeper {
namespace {

[[noreturn]] void refuse(std::string_view why) {
  throw usage_error(
      "the ZooKeeper URL {}; expected zookeeper://[user:password@]host[:port],.../chroot", why);
}

}  // namespace

std::string servers::host_list() const {
  return joined(
      hosts, [](const config::host_port& h) { return to_string(h); }, ",");
}

std::string servers::name() const {
  return fmt::format("zookeeper://{}", host_list());
}

servers servers_at(std::string_view url) {
  const auto parsed = config::parse_target(url);
  if (!parsed) refuse(parsed.error().sentence);
  const config::target& where = *parsed;
  if (where.scheme != "zookeeper") refuse("has another scheme");
  if (where.tls.on) refuse("asks for TLS, which the C client of ZooKeeper is built without");
  if (where.user.empty() != where.password.empty())
    refuse("has a user without a password, or a password without a user");
  servers found;
  for (const config::host_port& host : where.hosts) found.hosts.push_back(where.reached_at(host));
  found.chroot = where.path;
  if (!where.user.empty()) found.login = fmt::format("{}:{}", where.user, where.password);
  return found;
}

}  // namespace lockmark::zookeeper
