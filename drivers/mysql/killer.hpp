// Statements that wait inside the server for a lock, ended at the caller's deadline.
//
// The server's own timeouts are in whole seconds. KILL QUERY ends a wait at any time; it is sent on
// a connection of its own, which is opened when first needed.
#pragma once

#include <deque>
#include <string>

#include "drivers/mysql/connection.hpp"
#include "harness/async/signal.hpp"

namespace lockmark::mysql {

// How the wait ended.
struct waited {
  answer said;
  bool late = false;  // ended from here at the deadline; the server may have granted all the same
};

// The time limit for statements that clear up after a wait: the request's grace, but at least a
// round trip.
time_point clear_up_by(const loop& l, request r);

class killer {
 public:
  killer(loop& l, traffic& sent);

  // Sends the statement and waits until the deadline. If the server itself ends the wait at about
  // that time, at `server_limit`, this waits until shortly after it. Otherwise KILL QUERY ends the
  // wait, and its answer proves that the server no longer waits. Without that proof the connection
  // is cut.
  task<waited> wait(connection& c, std::string sql, time_point server_limit, request r);

  void quit() { link_.quit(); }

 private:
  task<bool> kill_query(const connection& whose, time_point deadline);
  task<bool> take_turn(time_point deadline);
  void end_turn();

  loop& loop_;
  connection link_;
  bool busy_ = false;
  std::deque<signal*> queue_;  // callers that wait for link_
};

}  // namespace lockmark::mysql
