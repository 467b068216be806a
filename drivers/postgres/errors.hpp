// The meaning of the server's SQLSTATEs here, and the sentences of failures.
#pragma once

#include <string>
#include <string_view>

#include "drivers/postgres/connection.hpp"

namespace lockmark::postgres {

namespace state {
inline constexpr std::string_view lock_not_available = "55P03";  // NOWAIT, or lock_timeout
inline constexpr std::string_view deadlock = "40P01";
}  // namespace state

// Whether later attempts will fail too: a missing table or database, a missing right, a refused
// login.
bool is_permanent(std::string_view sqlstate);

// Whether this server cannot execute the statement just now, but another may: it is a standby, or
// its transactions may only read. The statement certainly did not happen.
bool is_for_another_server(std::string_view sqlstate);

// Whether the statement was rolled back because of a conflict.
bool is_conflict(std::string_view sqlstate);

// Whether the server itself does not know what became of the statement.
bool is_doubtful(std::string_view sqlstate);

// Whether the session lacks what it began with, such as its statements: another one is needed.
bool is_of_a_spoilt_session(std::string_view sqlstate);

// The reason for a failed login, as one sentence without a password.
std::string sentence(const endpoint& where, const connect_failure& failure);

// The reason that a statement failed: "<server>: cannot <doing>: ...". REQUIRES: !a.done().
std::string sentence(const endpoint& where, std::string_view doing, const answer& a);

// The answer is not one that a server gives: "<server>: answered '<asked>' with <what>".
std::string nonsense(const answer& a, std::string_view what);

// Throws no_server if the run's table lacks the row that was asked for.
void expect_row(const answer& a);

// Connects, or throws no_server with its sentence.
task<void> connect_or_throw(connection& c, const endpoint& where, time_point deadline);

// Runs a statement whose failure ends the run: throws no_server with its sentence.
task<answer> must(connection& c, std::string doing, std::string sql, time_point deadline);

}  // namespace lockmark::postgres
