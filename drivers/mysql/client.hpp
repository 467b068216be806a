// The client library's non-blocking calls behind one face: MariaDB's library or MySQL's own, which
// of them is chosen when lockmark is built (LOCKMARK_MYSQL_CLIENT in CMakeLists.txt).
//
// A call is begun, and goes on whenever what it waits for has happened, until it is over. It knows
// no loop and no deadline: connection waits. One call at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "drivers/mysql/servers.hpp"
#include "harness/driver.hpp"

namespace lockmark::mysql {

// Called once in the process before the first client, while there is one thread.
void prepare_library();

// Whether the library takes the server's certificate for genuine where no authority has signed it,
// if the server proves by the password that it is its own.
bool library_proves_certificates();

// What a call in progress waits for.
struct awaited {
  bool over = true;                   // nothing: the call has ended
  unsigned events = 0;                // fd_watch's, on socket()
  std::optional<duration> at_most{};  // it wants to go on then, whatever has happened
};

struct client_state;  // the library's

class client {
 public:
  client();
  ~client();  // without a goodbye; a call in progress ends
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  // The calls. `where` and `sql` must outlive theirs. REQUIRES: none is in progress; for query():
  // logged in; for fetch(): begin_rows().
  awaited log_in(const endpoint& where);
  awaited query(std::string_view sql);
  awaited fetch();
  // `events`: those that have happened; 0: the time of `at_most` has come.
  awaited go_on(unsigned events);

  // Of the last call, once it is over. The number and the text are the server's or the library's.
  bool failed() const;
  unsigned error() const;
  std::string text() const;
  // The answer was larger than the library had been allowed.
  bool too_large() const;

  // After query(): whether rows follow; if not, how many it has changed or found.
  bool has_rows() const;
  std::uint64_t affected() const;
  // False: the definitions of the rows' columns are missing.
  bool begin_rows();
  // After fetch(): a row's cells. Null: there are no more rows.
  const char* const* row() const;
  const unsigned long* lengths() const;
  std::size_t columns() const;
  // The rows are not wanted any more. Reads no more of them from the server.
  void forget_rows();

  // Of the connection. The socket changes while log_in() tries addresses; -1: there is none to wait
  // for, only a time.
  int socket() const;
  unsigned long id() const;
  bool encrypted() const;
  // All bytes since the login began; 0 where the connection is gone.
  struct count {
    std::uint64_t in = 0;
    std::uint64_t out = 0;
  };
  count bytes() const;

  // A goodbye, which never waits. REQUIRES: no call in progress. Only the destructor follows.
  void say_goodbye();

 private:
  std::unique_ptr<client_state> state_;
};

}  // namespace lockmark::mysql
