#include "drivers/mysql/killer.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "drivers/mysql/errors.hpp"

namespace lockmark::mysql {

killer::killer(loop& l, traffic& sent) : loop_(l), link_(l, sent) {}

// At another server the same number is somebody else's.
task<bool> killer::kill_query(const connection& whose, time_point deadline) {
  const unsigned long id = whose.id();
  const endpoint& where = whose.where();
  const bool mine = co_await take_turn(deadline);
  if (!mine) co_return false;
  bool done = true;
  if (link_.broken() || &link_.where() != &where) {
    link_.drop();
    const connect_failure failure = co_await link_.connect(where, deadline);
    done = failure.error == 0;
  }
  if (done) {
    const answer a = co_await link_.query(fmt::format("KILL QUERY {}", id), deadline);
    done = a.done() || a.error == error_number::no_such_thread;
  }
  end_turn();
  co_return done;
}

task<bool> killer::take_turn(time_point deadline) {
  if (!std::exchange(busy_, true)) co_return true;
  signal turn{loop_};
  queue_.push_back(&turn);
  const bool mine = co_await turn.wait_until(deadline);
  if (!mine) std::erase(queue_, &turn);
  co_return mine;
}

void killer::end_turn() {
  busy_ = !queue_.empty();
  if (!busy_) return;
  queue_.front()->set();
  queue_.pop_front();
}

}  // namespace lockmark::mysql
