#include "drivers/postgres/errors.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace lockmark::postgres {
namespace {

template <std::size_t N>
bool is_among(std::string_view sqlstate, const std::array<std::string_view, N>& known) {
  return std::ranges::find(known, sqlstate) != known.end();
}

std::string told_by_server(const endpoint& where, const connect_failure& failure,
                           std::string_view what) {
  return fmt::format("{}: {} (error {}: {})", where.shown(), what, failure.sqlstate, failure.text);
}

std::string refused_login(const endpoint& where, const connect_failure& f) {
  const auto told = [&](std::string_view what) { return told_by_server(where, f, what); };
  if (f.sqlstate == "53300") return told("the server takes no more connections");
  if (f.sqlstate == "3D000") return told("the database does not exist");
  if (f.sqlstate == "42501") return told(fmt::format("user '{}' may not connect", where.user));
  if (f.sqlstate == "28P01") {
    return told(fmt::format("the server refused the login of user '{}'", where.user));
  }
  if (f.sqlstate == "28000") {
    return told(
        fmt::format("the server refused the login of user '{}' from here; look at its pg_hba.conf, "
                    "and at sslmode in the target",
                    where.user));
  }
  if (f.sqlstate == "57P03") return told("the server does not take logins just now");
  return told("cannot log in");
}

}  // namespace

bool is_permanent(std::string_view sqlstate) {
  constexpr std::array<std::string_view, 11> known{
      "28P01",  // wrong user name or password
      "28000",  // no login from here
      "3D000",  // unknown database
      "3F000",  // unknown schema
      "42501",  // no right
      "42601",  // syntax
      "42703",  // unknown column
      "42P01",  // no such table
      "42883",  // unknown function
      "0A000",  // not supported
      "42704",  // unknown setting or type
  };
  return is_among(sqlstate, known);
}

bool is_for_another_server(std::string_view sqlstate) {
  return sqlstate == "25006";  // a transaction that may only read
}

bool is_conflict(std::string_view sqlstate) {
  constexpr std::array<std::string_view, 3> known{
      "40001",  // serialization failure
      state::deadlock,
      state::lock_not_available,
  };
  return is_among(sqlstate, known);
}

bool is_doubtful(std::string_view sqlstate) {
  return sqlstate == "40003" || sqlstate.starts_with("08");  // statement or connection in doubt
}

bool is_of_a_spoilt_session(std::string_view sqlstate) {
  constexpr std::array<std::string_view, 3> known{
      "26000",  // no such prepared statement
      "25P01",  // no transaction, where there should be one
      "25P02",  // an aborted one, where there should be none
  };
  return is_among(sqlstate, known);
}

std::string sentence(const endpoint& where, const connect_failure& failure) {
  using reason = connect_failure::reason;
  const auto said = [&](std::string_view what) {
    return fmt::format("{}: {} ({})", where.shown(), what, failure.text);
  };
  switch (failure.why) {
    case reason::none: break;
    case reason::timed_out:
      return fmt::format("{}: no answer to the login within the time allowed", where.shown());
    case reason::unreachable: return said("nothing accepts connections there");
    case reason::tls:
      return said("TLS failed; look at tls or sslmode, ca, cert, key and verify in the target");
    case reason::plain_password:
      return fmt::format(
          "{}: the server wants the password in a form that others could read: that needs TLS with "
          "a verified certificate (?sslmode=verify-full)",
          where.shown());
    case reason::refused: return refused_login(where, failure);
    case reason::nonsense:
      return said("what answers there ended the login, or is no PostgreSQL server");
  }
  return said("cannot log in");
}

std::string sentence(const endpoint& where, std::string_view doing, const answer& a) {
  if (a.unknown == doubt::deadline) {
    return fmt::format("{}: cannot {}: no answer within the time allowed", where.shown(), doing);
  }
  if (a.unknown && a.sqlstate.empty()) {
    return fmt::format("{}: cannot {}: the connection broke", where.shown(), doing);
  }
  return fmt::format("{}: cannot {}: error {}: {}", where.shown(), doing, a.sqlstate, a.text);
}

std::string nonsense(const answer& a, std::string_view what) {
  return fmt::format("{}: answered '{}' with what no PostgreSQL server says: {}", a.from->shown(),
                     quotable(a.asked()), what);
}

void expect_row(const answer& a) {
  if (!a.empty()) return;
  throw no_server(
      fmt::format("{}: a key's row is missing from the run's table, as if another run had wiped it",
                  a.from->shown()));
}

task<void> connect_or_throw(connection& c, const endpoint& where, time_point deadline) {
  const connect_failure failure = co_await c.connect(where, deadline);
  if (failure.failed()) throw no_server(sentence(where, failure));
}

task<answer> must(connection& c, std::string doing, std::string sql, time_point deadline) {
  answer a = co_await c.query(std::move(sql), deadline);
  if (!a.done()) throw no_server(sentence(c.where(), doing, a));
  co_return a;
}

}  // namespace lockmark::postgres
