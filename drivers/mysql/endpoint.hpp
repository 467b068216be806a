// Where a MySQL or MariaDB server is and who logs in: mysql://user:password@host:port/database.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockmark::mysql {

struct endpoint {
  std::string host;
  std::uint16_t port = 3306;
  std::string user;
  std::string password;  // never to be printed
  std::string database;

  // "mysql://host:port/database", for people.
  std::string shown() const;
};

// Reads a URL; `%xx` stands for a byte in user, password and database; an IPv6 address stands in
// brackets. Without a user it is "root", without a password there is none. Throws usage_error, with
// a sentence that does not quote the URL.
endpoint parse_endpoint(std::string_view url);

}  // namespace lockmark::mysql
