// Where the servers are: target URLs as typed values.
//
//   redis://[user:pass@]host[:port][/db]      rediss://...  the same with TLS
//   redis+sentinel://h1,h2,h3/NAME            redis+cluster://h1,h2 redis+independent://h1,h2,h3
//   zookeeper://h1,h2,h3[/chroot]             mysql://[user:pass@]host[:port][/db]
//   memory:                                   local:NAME
//
// Every form may end in "?name=value&name=value". Parts are percent-decoded; IPv6 addresses stand
// in brackets. Resolves and connects to nothing. RFC 3986, with its one host made a list.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/config/parsed.hpp"

namespace lockmark::config {

struct host_port {
  std::string host;  // a name or an address, IPv6 without brackets
  std::uint16_t port = 0;

  bool operator==(const host_port&) const = default;
};

struct target {
  std::string scheme;
  std::string user;
  std::string password;
  std::vector<host_port> hosts;  // one for redis, rediss and mysql; none for memory and local
  // Without the leading slash, except for ZooKeeper's chroot, which has it ("/a/b" or ""): Redis's
  // database number, Sentinel's master, MySQL's database, the name of a local server.
  std::string path;
  std::map<std::string, std::string> query;

  // The URL with every port, and "***" for the password and for what the query calls a password,
  // secret or token. The only form of a target that may be shown or stored.
  std::string redacted() const;

  bool operator==(const target&) const = default;
};

// The error never quotes more of the text than a known-harmless scheme: anything else could be part
// of a password that was not percent-encoded.
parsed<target> parse_target(std::string_view text);

}  // namespace lockmark::config
