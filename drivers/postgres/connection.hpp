// One connection to a PostgreSQL server, on one thread's loop. It blocks the thread only while the
// client library looks up a host name (getaddrinfo) inside connect().
//
// The only code that knows the client library's asynchronous calls (libpq). It does not retry,
// reconnect, or decide the meaning of an error for a lock.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "drivers/postgres/answer.hpp"
#include "harness/async/signal.hpp"
#include "harness/async/socket_watch.hpp"
#include "harness/driver.hpp"

struct pg_conn;  // the library's PGconn

namespace lockmark::postgres {

// A statement that sessions prepare when they begin, and execute by its name.
struct statement {
  std::string name;  // unique among those of a session
  std::string sql;
};

// One execution of a statement. The values are text, and must stay until it is sent.
struct step {
  static constexpr std::size_t most_values = 4;
  const statement* what = nullptr;
  std::array<const char*, most_values> values{};
  int count = 0;
};

template <class... Values>
step execution(const statement& what, const Values&... values) {
  static_assert(sizeof...(values) <= step::most_values);
  return {&what, {values.c_str()...}, static_cast<int>(sizeof...(values))};
}

// How a session begins, unless it is another's, too: behind a pooler nothing is set or prepared.
struct greeting {
  std::vector<std::string> settings;       // statements
  std::vector<const statement*> prepared;  // outlive the connections
};

// Why a login failed.
struct connect_failure {
  enum class reason : std::uint8_t {
    none,  // it succeeded
    timed_out,
    unreachable,     // no connection
    tls,             // the server has none, or not the right certificate
    plain_password,  // the server wants the password as it is
    refused,         // by the server, with an error
    nonsense,        // no server of this kind
  };
  reason why = reason::none;
  std::string sqlstate;  // if refused
  std::string text;

  bool failed() const { return why != reason::none; }
};

class connection final : private socket_watch::listener {
 public:
  // `sent` must outlive the connection.
  connection(loop& l, traffic& sent);
  ~connection();  // as drop()
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  // `where` must outlive the connection. REQUIRES: not connected.
  task<connect_failure> connect(const endpoint& where, time_point deadline);
  bool connected() const { return handle_ != nullptr; }

  // The server it was last connected to. REQUIRES: connect() was called.
  const endpoint& where() const { return *where_; }

  // Whether the session may be another's as well: its process, which is told, is not the one of the
  // login. Statements are then not executed by name, because only their own session knows them.
  void note_process(std::uint64_t serving);
  bool is_pooled() const { return pooled_; }

  // Begins the session, in one round trip.
  task<answer> greet(const greeting& hello, time_point deadline);

  // Sends one statement, or several that begin together and fail together from the first that
  // fails. Then ended() waits, and answered() takes the answer: the first error, or that of the
  // last. If there is none yet it cuts the connection, which is unusable until it comes. It throws
  // no_server if the answer is not one that a PostgreSQL server gives, or is longer than any of
  // those asked for. REQUIRES: one of these at a time.
  void send(const step& only);
  void send(std::initializer_list<step> together);
  task<bool> ended(time_point deadline) { return ended_.wait_until(deadline); }
  answer answered();

  // All of it, for a statement that is not prepared.
  task<answer> query(std::string sql, time_point deadline);

  // Whether the server is known to have ended the idle connection. REQUIRES: no statement in
  // progress.
  bool broken();

  // End the connection: quit() politely, drop() at once, even during a statement. Neither waits.
  void quit();
  void drop();

  // Bytes of the connection in progress, which are not in `sent` yet.
  traffic on_wire() const;

  // The session's lock_timeout as its user last set it, in ms; 0: not known.
  std::int64_t lock_timeout_ms = 0;

 private:
  void begin_login();
  task<connect_failure> log_in(time_point deadline);
  connect_failure failure_of_login(int last_status) const;
  bool is_asked_for_plain_password() const;
  void begin(bool together);
  void note_sent(bool by_library, std::string_view sql);
  void send_one(const step& s);
  void finish_sending();
  void flush();
  void stirred(unsigned events) override;
  void read();
  bool has_more() const;
  task<answer> take(time_point deadline);
  void collect();
  void keep(result_handle r);
  void keep_error(const pg_result& r);
  void finish();
  void end();
  void lose();
  void refuse_nonsense(std::string what);
  void check_allowance();

  loop& loop_;
  const endpoint* where_ = nullptr;
  traffic& sent_;
  pg_conn* handle_ = nullptr;
  std::unique_ptr<socket_watch> watch_;
  signal ended_;
  answer answer_;
  std::string nonsense_;  // the part of an answer that no server gives
  bool pooled_ = false;
  bool tls_ = false;
  bool together_ = false;  // statements in the library's pipeline
  bool unsent_ = false;    // bytes that the kernel did not take yet
  bool finished_ = true;
  bool stirred_ = false;          // something has happened since the last answer
  std::uint64_t statements_ = 0;  // since the login
};

}  // namespace lockmark::postgres
