// One connection to a MySQL or MariaDB server, on one thread's loop; never blocks the thread except
// while the client library looks up a host name (getaddrinfo), which it does inside connect().
//
// The only code that knows the client library's non-blocking calls. It does not retry, reconnect,
// or decide what an error means for a lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drivers/mysql/servers.hpp"
#include "harness/async/fd_watch.hpp"
#include "harness/driver.hpp"

struct st_mysql;      // the library's MYSQL
struct st_mysql_res;  // the library's MYSQL_RES

namespace lockmark::mysql {

// How a statement ended: done, refused by the server with an error, or nobody can know.
struct answer {
  std::optional<doubt> unknown;  // set: the connection is gone, and nothing below means anything
  unsigned error = 0;            // the server's error number; 0: done
  std::string text;              // the server's words for the error
  std::uint64_t affected = 0;    // rows changed
  std::vector<std::vector<std::string>> rows;  // NULL reads as ""

  bool done() const { return !unknown && error == 0; }

  // A whole number in the first row. REQUIRES: there is one.
  std::uint64_t number(std::size_t column) const;
};

// Why there is no connection: the server's or the library's error number. 0: there is one.
struct connect_failure {
  static constexpr unsigned timed_out = 1;  // no number of the server or the library
  unsigned error = 0;
  std::string text;
};

// Called once in the process before the first connection, while there is one thread.
void prepare_library();

class connection {
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

  // Sends one statement and waits for its answer. At the deadline the connection is cut, because
  // it cannot be used before the answer has come: the server rolls its transaction back.
  task<answer> query(std::string sql, time_point deadline);

  // The same in steps. send() starts; answered() says whether the answer has come by `until`, and
  // may be asked again; take() ends as query() does. REQUIRES: one statement at a time.
  void send(std::string sql);
  task<bool> answered(time_point until);
  task<answer> take(time_point deadline);

  // Whether the server has ended the idle connection, as far as has been heard here. One system
  // call. REQUIRES: no statement in progress.
  bool broken() const;

  // The server's number of this connection, for KILL. REQUIRES: connected.
  unsigned long id() const;

  // Ends the connection: politely, or at once although a statement is in progress. Neither waits.
  void quit();
  void drop();

 private:
  enum class phase { idle, connecting, querying, storing, finished };

  void begin_connect();
  void ask_for_tls();
  task<int> wait(time_point until);
  void step(int happened);
  void settle();
  void fail();
  void collect();
  void count_bytes();

  loop& loop_;
  const endpoint* where_ = nullptr;
  traffic& sent_;
  st_mysql* handle_ = nullptr;
  std::unique_ptr<fd_watch> watch_;
  std::string sql_;  // the library reads it until the query is sent
  answer answer_;
  phase phase_ = phase::idle;
  int wanted_ = 0;  // what the library waits for; 0: its call has ended
  int failed_ = 0;  // what the library's query call returned
  st_mysql* connect_result_ = nullptr;
  st_mysql_res* result_ = nullptr;
  std::uint64_t counted_in_ = 0;
  std::uint64_t counted_out_ = 0;
};

}  // namespace lockmark::mysql
