// The addresses and the login of PostgreSQL servers, read from a target; see config::target.
//
//   postgres://user:password@h1:p1,h2:p2/database    one of them is writable
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/config/target.hpp"

namespace lockmark::postgres {

// One server.
struct endpoint {
  std::string host;
  std::uint16_t port = 5432;
  std::string user;
  std::string password;  // never to be printed
  std::string database;
  std::string sslmode = "disable";  // libpq's: disable, require, verify-ca or verify-full
  config::tls_access tls{};

  // "postgres://host:port/database", for people.
  std::string shown() const;
};

// At least one. The default user is "postgres", the default database the user's name. Throws
// usage_error with a sentence that does not quote the URL.
std::vector<endpoint> read_servers(std::string_view url);

}  // namespace lockmark::postgres
