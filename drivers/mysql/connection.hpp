// One connection to a MySQL or MariaDB server, on one thread's loop; never blocks the thread except
// while the client library looks up a host name (getaddrinfo), which it does inside connect().
//
// The only code that knows the client library's non-blocking calls. It does not retry, reconnect,
// or decide what an error means for a lock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "drivers/mysql/answer.hpp"
#include "harness/async/fd_watch.hpp"
#include "harness/driver.hpp"

struct st_mysql;      // the library's MYSQL
struct st_mysql_res;  // the library's MYSQL_RES

namespace lockmark::mysql {

// Why there is no connection: the server's or the library's error number. 0: there is one.
struct connect_failure {
  static constexpr unsigned timed_out = 1;  // no number of the server or the library
  static constexpr unsigned no_tls = 2026;
  static constexpr unsigned nonsense = 2027;
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
  // Throws no_server when what came is no answer that a MySQL server gives, or is beyond
  // limits.hpp.
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
  enum class phase { idle, connecting, querying, fetching, finished };

  void begin_connect();
  void ask_for_tls();
  connect_failure login_failure() const;
  task<int> wait(time_point until);
  void step(int happened);
  void settle();
  void fail();
  void fetch();
  void keep_row();
  void end_result();
  void abandon_result();
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
  char** row_ = nullptr;  // the library's, of the row it has read last
  std::string nonsense_;  // what the server said that no server says
  std::uint64_t counted_in_ = 0;
  std::uint64_t counted_out_ = 0;
};

}  // namespace lockmark::mysql
