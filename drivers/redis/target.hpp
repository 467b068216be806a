// Where a Redis server is and how to log in: redis://[user:pass@]host[:port][/db].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockmark::redis {

struct target {
  std::string host;
  std::uint16_t port = 6379;
  std::string user;      // empty: the default user
  std::string password;  // empty: no login
  int db = 0;

  // "redis://127.0.0.1:6379/1": for people; never the password.
  std::string name() const;
};

// `user` and `pass` are percent-decoded; ":pass@" is the default user's password. Throws
// usage_error, without quoting what may hold a password.
target parse_target(std::string_view url);

}  // namespace lockmark::redis
