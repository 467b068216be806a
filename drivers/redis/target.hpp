// Where one Redis deployment is and how to log in: a server, a master that sentinels watch, or a
// Cluster. A target URL names one, or several that know nothing of each other (redis+independent).
//
// URLs are read by harness/config/target.hpp; this only sorts what it read, and reads the files of
// certificates that it names.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/async/tls.hpp"
#include "harness/config/target.hpp"

namespace lockmark::redis {

struct target {
  enum class form : std::uint8_t { single, sentinel, cluster };

  form how = form::single;
  std::vector<config::host_port> hosts;  // the server; the sentinels; nodes of the Cluster
  std::string master;                    // by its name among the sentinels
  std::string user;                      // empty: the default user
  std::string password;                  // empty: no login
  int db = 0;
  std::string sentinel_user;
  std::string sentinel_password;
  config::tls_access tls;
  std::shared_ptr<const tls_context>
      secure;  // of `tls`, read once for all connections; null: plain
  std::map<config::host_port, config::host_port> nat;

  // `h` as it is to be reached from here.
  const config::host_port& reached_at(const config::host_port& h) const {
    const auto other = nat.find(h);
    return other == nat.end() ? h : other->second;
  }

  // "redis://127.0.0.1:6379/1", "rediss+sentinel://h1:26379,h2:26379/main": for people; never a
  // user or password.
  std::string name() const;
};

// The deployments of a URL: one, or of redis+independent one for each of its hosts. Throws
// usage_error, without quoting what may hold a password.
std::vector<target> parse_targets(std::string_view url);

}  // namespace lockmark::redis
