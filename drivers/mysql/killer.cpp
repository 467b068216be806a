#include "drivers/mysql/killer.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "drivers/mysql/errors.hpp"

namespace lockmark::mysql {
namespace {

// A wait that the server ends by itself within this time after the deadline is left to it.
constexpr duration server_lag = std::chrono::milliseconds{10};

constexpr duration round_trip_limit = std::chrono::milliseconds{250};

}  // namespace

time_point clear_up_by(const loop& l, request r) {
  return std::max(r.answer_by(), l.now() + round_trip_limit);
}

killer::killer(loop& l, traffic& sent) : loop_(l), link_(l, sent) {}

task<waited> killer::wait(connection& c, std::string sql, time_point server_limit, request r) {
  waited end;
  c.send(std::move(sql));
  const bool server_ends_it = server_limit <= r.deadline + server_lag;
  const time_point patience = server_ends_it ? server_limit + server_lag : r.deadline;
  const bool in_time = co_await c.answered(patience);
  if (in_time) {
    end.said = co_await c.take(r.answer_by());
    co_return end;
  }
  end.late = true;
  const time_point limit = clear_up_by(loop_, r);
  const bool killed = co_await kill_query(c, limit);
  if (killed) {
    end.said = co_await c.take(limit);
    co_return end;
  }
  c.drop();
  end.said.unknown = doubt::deadline;
  co_return end;
}

// Ends the statement that the server executes for `whose`, if any. True once the server has said
// so: a later statement on that connection cannot meet a KILL that is still under way. The
// connection's number is valid at its own server only.
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
