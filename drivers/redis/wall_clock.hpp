// The time of day, for locks that write it into the server.
//
// The clients that those locks were taken from read their machine's clock. A driver reads none: it
// asks the server for its TIME once, and goes on from there by the loop's clock. What is left of
// the difference between two clients' clocks is the time that the answer took.
#pragma once

#include <optional>

#include "drivers/redis/connection.hpp"

namespace lockmark::redis {

class wall_clock {
 public:
  explicit wall_clock(loop& l) : loop_(l) {}

  // Asks TIME three times and believes the quickest answer. Throws no_server.
  task<void> set(connection& c, time_point deadline);

  // Milliseconds since 1970. REQUIRES: set.
  std::int64_t now_ms() const {
    return std::chrono::floor<std::chrono::milliseconds>(loop_.now() - epoch_).count();
  }

 private:
  loop& loop_;
  time_point epoch_{};  // 1970, by the loop's clock
};

// TIME's answer: seconds since 1970, and microseconds. Nothing for what is none.
std::optional<duration> time_of_day(const reply& r);

}  // namespace lockmark::redis
