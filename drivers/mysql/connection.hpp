// One connection to a MySQL or MariaDB server, on one thread's loop. It blocks the thread only
// while the client library looks up a host name (getaddrinfo) inside connect().
//
// Waits for what the client library's calls need, until a deadline. It does not retry, reconnect,
// or decide the meaning of an error for a lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "drivers/mysql/answer.hpp"
#include "drivers/mysql/client.hpp"
#include "harness/async/fd_watch.hpp"
#include "harness/driver.hpp"

namespace lockmark::mysql {

// The reason that a login failed: the server's or the library's error number. 0: it succeeded.
struct connect_failure {
  static constexpr unsigned timed_out = 1;  // not a number of the server or the library
  static constexpr unsigned no_tls = 2026;
  static constexpr unsigned nonsense = 2027;
  unsigned error = 0;
  std::string text;
};

class connection {
 public:
  // `sent` must outlive the connection.
  connection(loop& l, traffic& sent);
  ~connection();  // as drop()
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  // `where` must outlive the connection. REQUIRES: not connected.
  task<connect_failure> connect(const endpoint& where, time_point deadline);
  bool connected() const { return client_ != nullptr; }

  // The server it was last connected to. REQUIRES: connect() was called.
  const endpoint& where() const { return *where_; }

  // Sends one statement and waits for its answer. At the deadline the connection is cut, because
  // it is unusable until the answer comes: the server rolls its transaction back. Throws no_server
  // if the answer is not one that a MySQL server gives, or exceeds limits.hpp.
  task<answer> query(std::string sql, time_point deadline);

  // The same in steps. send() starts; answered() waits until `until` at most, and may be called
  // again if the answer has not come; take() ends like query(). REQUIRES: one statement at a time.
  void send(std::string sql);
  task<bool> answered(time_point until);
  task<answer> take(time_point deadline);

  // Whether the server is known to have ended the idle connection. One system call. REQUIRES: no
  // statement in progress.
  bool broken() const;

  // The server's number of this connection, for KILL. REQUIRES: connected.
  unsigned long id() const;

  // End the connection: quit() politely, drop() at once, even during a statement. Neither waits.
  void quit();
  void drop();

 private:
  enum class phase { idle, connecting, querying, fetching, finished };

  connect_failure login_failure() const;
  task<std::optional<unsigned>> wait(time_point until);
  void settle();
  void fail();
  void fetch();
  void keep_row();
  void end_answer();
  void count_bytes();

  loop& loop_;
  const endpoint* where_ = nullptr;
  traffic& sent_;
  std::unique_ptr<client> client_;  // none: not connected
  std::unique_ptr<fd_watch> watch_;
  std::string sql_;  // the client reads it until the query is sent
  answer answer_;
  phase phase_ = phase::idle;
  awaited wanted_;        // by the client's call in progress
  std::string nonsense_;  // the part of an answer that no server gives
  client::count counted_;
};

}  // namespace lockmark::mysql
