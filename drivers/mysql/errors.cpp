#include "drivers/mysql/errors.hpp"

#include <fmt/core.h>

namespace lockmark::mysql {

bool ends_connection(unsigned error) {
  switch (error) {
    case 1053:  // server shutdown in progress
    case 1927:  // connection was killed (MariaDB)
    case 4031:  // disconnected because of inactivity (MySQL)
    case 1152:  // aborted connection
    case 1153:  // packet bigger than max_allowed_packet
    case 1158:  // network read error
    case 1159:  // network read timeout
    case 1160:  // network write error
    case 1161:  // network write timeout
      return true;
    default:  // the client library's own
      return (error >= 2000 && error < 3000) || (error >= 5000 && error < 6000);
  }
}

bool is_nonsense(unsigned error) {
  switch (error) {
    case 2000:  // unknown: inconsistent rows, a request for a local file
    case 2014:  // out of order: an unexpected second result
    case 2020:  // larger than limits.hpp allows
    case 2027:  // malformed
    case 5027:  // more columns than version 3.4 of the library believes
      return true;
    default: return false;
  }
}

bool is_permanent(unsigned error) {
  switch (error) {
    case 1044:  // no right to use the database
    case 1045:  // wrong user name or password
    case 1049:  // unknown database
    case 1054:  // unknown column
    case 1064:  // syntax
    case 1142:  // no right to use the table
    case 1146:  // no such table
    case 1698:  // wrong user name or password, from a plugin
    case 2059:  // a login that the library does not know
    case 2061:  // ... or that failed in it
    case 5010:  // a login that would show the password
      return true;
    default: return false;
  }
}

bool is_for_another_server(unsigned error) {
  switch (error) {
    case 1047:  // Galera: not a member of the primary component
    case 1290:  // read_only
    case 1792:  // a transaction that may only read
    case 1836:  // read-only mode (MySQL)
      return true;
    default: return false;
  }
}

bool is_conflict(unsigned error) {
  return error == error_number::deadlock || error == error_number::lock_wait_timeout;
}

std::string sentence(const endpoint& where, const connect_failure& failure) {
  const auto told = [&](std::string_view what) {
    return fmt::format("{}: {} (error {}: {})", where.shown(), what, failure.error, failure.text);
  };
  switch (failure.error) {
    case connect_failure::timed_out:
      return fmt::format("{}: no answer to the login within the time allowed", where.shown());
    case 1040:
    case 1203:
    case 1226: return told("the server takes no more connections");
    case 1044: return told(fmt::format("user '{}' may not use the database", where.user));
    case 1045:
    case 1698: return told(fmt::format("the server refused the login of user '{}'", where.user));
    case 1049: return told("the database does not exist");
    case 2026: return told("TLS failed; look at tls, ca, cert, key and verify in the target");
    case 5010:
      return told(
          "the server wants the password in a form that others could read: that needs TLS with a "
          "verified certificate (?tls=yes)");
    case 2059:
    case 2061:
      return told(
          "the server wants a login that the client library does not know (MySQL's own library has "
          "no mysql_native_password), or that others could read");
    case 3159: return told("the server wants TLS: add ?tls=yes to the target");
    case 1129:
    case 1130: return told("the server takes no connections from this host");
    case 2002:
    case 2003: return told("nothing accepts connections there");
    case 2005: return told("the host name is unknown");
    case 2006:
    case 2013:
    case 2027:
    case 2007: return told("what answers there ended the login, or is no MySQL or MariaDB server");
    default: return told("cannot log in");
  }
}

std::string sentence(const endpoint& where, std::string_view doing, const answer& a) {
  if (a.unknown == doubt::deadline) {
    return fmt::format("{}: cannot {}: no answer within the time allowed", where.shown(), doing);
  }
  if (a.unknown) {
    return fmt::format("{}: cannot {}: the connection broke", where.shown(), doing);
  }
  return fmt::format("{}: cannot {}: error {}: {}", where.shown(), doing, a.error, a.text);
}

std::string nonsense(const answer& a, std::string_view what) {
  return fmt::format("{}: answered '{}' with what no MySQL or MariaDB server says: {}",
                     a.from->shown(), quotable(a.asked), what);
}

void expect_row(const answer& a) {
  if (!a.empty()) return;
  throw no_server(
      fmt::format("{}: a key's row is missing from the run's table, as if another run had wiped it",
                  a.from->shown()));
}

task<void> connect_or_throw(connection& c, const endpoint& where, time_point deadline) {
  const connect_failure failure = co_await c.connect(where, deadline);
  if (failure.error != 0) throw no_server(sentence(where, failure));
}

task<answer> must(connection& c, std::string doing, std::string sql, time_point deadline) {
  answer a = co_await c.query(std::move(sql), deadline);
  if (!a.done()) throw no_server(sentence(c.where(), doing, a));
  co_return a;
}

}  // namespace lockmark::mysql
