// The meaning of the server's and the client library's error numbers here, and their sentences.
#pragma once

#include <string>
#include <string_view>

#include "drivers/mysql/connection.hpp"

namespace lockmark::mysql {

namespace error_number {
inline constexpr unsigned duplicate_key = 1062;
inline constexpr unsigned no_such_thread = 1094;
inline constexpr unsigned error_during_commit = 1180;
inline constexpr unsigned lock_wait_timeout = 1205;
inline constexpr unsigned deadlock = 1213;
inline constexpr unsigned interrupted = 1317;         // by KILL QUERY
inline constexpr unsigned user_lock_deadlock = 3058;  // MySQL's, of GET_LOCK
inline constexpr unsigned locked_nowait = 3572;       // MySQL's; MariaDB says 1205
}  // namespace error_number

// Whether the server or the library has ended the connection with this error.
bool ends_connection(unsigned error);

// Whether the library could not, or was told not to, understand the answer.
bool is_nonsense(unsigned error);

// Whether later attempts will fail too: a missing table or database, a missing right, a refused
// login.
bool is_permanent(unsigned error);

// Whether this server cannot execute the statement just now, but another may: it is read-only, or
// not a member of its Galera cluster. The statement certainly did not happen.
bool is_for_another_server(unsigned error);

// Whether the statement was rolled back because of a conflict. A Galera node also reports this if
// another node was first.
bool is_conflict(unsigned error);

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

}  // namespace lockmark::mysql
