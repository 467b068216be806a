// The address and login of one Redis deployment: a server, a master under Sentinel, or a Cluster. A
// target URL names one, or several that know nothing of each other: redis+independent has a server
// of each, redis+clusters a node of each Cluster.
//
// harness/config/target.hpp parses URLs; this adds the meaning of their parts for Redis, and reads
// the files of certificates.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/async/tls.hpp"
#include "harness/config/target.hpp"

namespace lockmark::redis {

// Of the parts: `hosts` are the server, the sentinels, or nodes of the Cluster; `path` is the
// sentinels' name of the master.
struct target : config::target {
  enum class form : std::uint8_t { single, sentinel, cluster };

  form how = form::single;
  int db = 0;
  std::shared_ptr<const tls_context> secure{};  // from `tls`, once for all connections; null: plain

  // "redis://127.0.0.1:6379/1", "rediss+sentinel://h1:26379,h2:26379/main": for people, without
  // user and password.
  std::string name() const;
};

// The deployments of a URL: one, or one for each host. Throws usage_error, which quotes nothing
// that may hold a password.
std::vector<target> parse_targets(std::string_view url);

}  // namespace lockmark::redis
