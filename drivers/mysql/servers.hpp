// The addresses and the login of MySQL or MariaDB servers, read from a target; see config::target.
//
//   mysql://user:password@h1:p1,h2:p2/database    one of them is writable
//   mysql+galera://...                            all of them are; ?writers=one (default) or all
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/config/target.hpp"

namespace lockmark::mysql {

// One server.
struct endpoint {
  std::string host;
  std::uint16_t port = 3306;
  std::string user;
  std::string password;  // never to be printed
  std::string database;
  config::tls_access tls{};

  // "mysql://host:port/database", for people.
  std::string shown() const;
};

struct servers {
  std::vector<endpoint> hosts;  // at least one
  bool galera = false;
  bool all_write = false;  // Galera: instances spread over all hosts; otherwise they share one
};

// The default user is "root", without a password. Throws usage_error with a sentence that does not
// quote the URL.
servers read_servers(std::string_view url);

}  // namespace lockmark::mysql
