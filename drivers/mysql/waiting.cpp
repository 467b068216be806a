#include "drivers/mysql/waiting.hpp"

#include <algorithm>

namespace lockmark::mysql {
namespace {

// A wait that the server itself will end no later than this after the deadline is left to it.
constexpr duration server_lag = std::chrono::milliseconds{10};

constexpr duration round_trip_limit = std::chrono::milliseconds{250};

}  // namespace

time_point clear_up_by(const loop& l, request r) {
  return std::max(r.answer_by(), l.now() + round_trip_limit);
}

task<waited> wait_for(loop& l, connection& c, killer& k, std::string sql, time_point server_limit,
                      request r) {
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
  const time_point limit = clear_up_by(l, r);
  const bool killed = co_await k.kill_query(c, limit);
  if (killed) {
    end.said = co_await c.take(limit);
    co_return end;
  }
  c.drop();
  end.said.unknown = doubt::deadline;
  co_return end;
}

}  // namespace lockmark::mysql
