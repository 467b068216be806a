// Target URLs, which locate the servers, as typed values.
//
//   SCHEME://[user:pass@]h1,h2,h3[:port][/path]   on the network; parts of a scheme: scheme.hpp
//   SCHEME:   SCHEME:NAME   SCHEME:COMMAND        the command's words, separated by blanks
//
// Network forms may end in "?name=value&name=value" with these names:
//   password-env, password-file   source of the password if it is not in the URL
//   sentinel-user, sentinel-password-env, sentinel-password-file   of the sentinels themselves
//   tls=yes, ca, cert, key (files in PEM), verify=no, server-name
//   sslmode=disable|require|verify-ca|verify-full   the same in libpq's words
//   nat=h1:p1>h2:p2,...           servers announce h1:p1; clients reach it at h2:p2
//   writers=one|all               Galera: instances share one node or spread over all
//
// Parts are percent-decoded; IPv6 addresses are in brackets. Opens no connection and reads nothing
// but a secret's file or variable. RFC 3986, with its one host made a list.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/config/parsed.hpp"

namespace lockmark::config {

struct host_port {
  std::string host;  // a name or an address, IPv6 without brackets
  std::uint16_t port = 0;

  auto operator<=>(const host_port&) const = default;
};

// "host:port", with brackets around an IPv6 address.
std::string to_string(const host_port& h);

struct tls_access {
  bool on = false;
  bool verify = true;  // the server's certificate and name
  std::string ca;      // empty: the system's
  std::string cert;    // of the client; empty: none
  std::string key;
  std::string server_name;  // expected of the certificate; empty: the host

  bool operator==(const tls_access&) const = default;
};

struct target {
  std::string scheme;
  std::string user;
  std::string password;          // already read from the source that the query names
  std::vector<host_port> hosts;  // none if not on the network
  // Without the leading slash, except for ZooKeeper's chroot, which has it ("/a/b" or ""): Redis's
  // database number, Sentinel's master, MySQL's database, the name of a local server, a command.
  std::string path;
  std::map<std::string, std::string> query;  // as written; the members below are read from it
  std::string sentinel_user{};
  std::string sentinel_password{};
  tls_access tls{};
  std::map<host_port, host_port> nat{};  // keyed by the addresses that servers announce

  // The address at which `h` is reached from here.
  const host_port& reached_at(const host_port& h) const {
    const auto other = nat.find(h);
    return other == nat.end() ? h : other->second;
  }

  // The URL with every port. "***" replaces the password, what the query calls a password or
  // secret, and any other part that contains the password; a command shows only its program. The
  // only form of a target that may be shown or stored.
  std::string redacted() const;

  bool operator==(const target&) const = default;
};

// The error quotes at most a known scheme: any other text could be part of a password that was not
// percent-encoded.
parsed<target> parse_target(std::string_view text);

// Fills in the members that the query of a network target sets: secrets kept elsewhere, TLS,
// translated addresses. The problem never quotes a value that may be a secret.
std::optional<problem> read_access(target& t);

}  // namespace lockmark::config
