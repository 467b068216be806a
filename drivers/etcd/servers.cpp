#include "drivers/etcd/servers.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "harness/base/lists.hpp"
#include "harness/driver.hpp"

namespace lockmark::etcd {
namespace {

[[noreturn]] void refuse(std::string_view why) {
  throw usage_error("the etcd URL {}; expected etcd://[user:password@]host[:port],...", why);
}

// `protocol`: of ALPN; an etcd behind TLS speaks HTTP/1 to those who do not ask for HTTP/2.
std::shared_ptr<const tls_context> certificates_of(const config::tls_access& tls,
                                                   const char* protocol) {
  if (!tls.on) return nullptr;
  const tls_settings settings{tls.ca, tls.cert, tls.key, tls.verify, tls.server_name, protocol};
  try {
    return std::make_shared<tls_context>(settings);
  } catch (const std::runtime_error& wrong) {
    throw usage_error("{}", wrong.what());
  }
}

}  // namespace

std::string servers::name() const {
  const auto each = [](const config::host_port& h) { return config::to_string(h); };
  return fmt::format("etcd://{}", joined(hosts, each, ","));
}

servers servers_at(std::string_view url) {
  const auto parsed = config::parse_target(url);
  if (!parsed) refuse(parsed.error().sentence);
  const config::target& where = *parsed;
  if (where.scheme != "etcd") refuse("has another scheme");
  if (where.user.empty() != where.password.empty()) {
    refuse("has a user without a password, or a password without a user");
  }
  servers found;
  for (const config::host_port& host : where.hosts) found.hosts.push_back(where.reached_at(host));
  found.user = where.user;
  found.password = where.password;
  found.secure = certificates_of(where.tls, "h2");
  found.secure_http1 = certificates_of(where.tls, "http/1.1");
  return found;
}

}  // namespace lockmark::etcd
