// Ends waits inside the server at times that the server's own timeouts, in whole seconds, cannot:
// KILL QUERY, from a connection of its own that is opened when first needed.
#pragma once

#include <deque>

#include "drivers/mysql/connection.hpp"
#include "harness/async/signal.hpp"

namespace lockmark::mysql {

class killer {
 public:
  killer(loop& l, traffic& sent);

  // Ends the statement that the server executes for `whose`, if any. True once the server
  // has said so: nothing that is sent on that connection from now on meets a kill still under way.
  task<bool> kill_query(const connection& whose, time_point deadline);

  void quit() { link_.quit(); }

 private:
  task<bool> take_turn(time_point deadline);
  void end_turn();

  loop& loop_;
  connection link_;
  bool busy_ = false;
  std::deque<signal*> queue_;  // of those who wait for link_
};

}  // namespace lockmark::mysql
