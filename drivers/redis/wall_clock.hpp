// The time of day, for locks that write it into the server.
//
// The original clients of those locks read their machine's clock. A driver reads none: it asks the
// server for its TIME once, and continues by the loop's clock. Two clients' clocks then differ by
// no more than the time that the answers took.
#pragma once

#include <fmt/format.h>

#include <optional>

#include "drivers/redis/connection.hpp"
#include "drivers/redis/replies.hpp"

namespace lockmark::redis {

// TIME's answer: seconds since 1970, and microseconds. Nothing for any other reply.
inline std::optional<duration> time_of_day(const reply& r) {
  if (r.parts.size() != 2) return std::nullopt;
  const auto seconds = whole_number<std::uint32_t>(r.parts[0].text);
  const auto microseconds = whole_number<std::uint32_t>(r.parts[1].text);
  if (!seconds || !microseconds || *microseconds >= 1'000'000) return std::nullopt;
  return std::chrono::seconds{*seconds} + std::chrono::microseconds{*microseconds};
}

class wall_clock {
 public:
  explicit wall_clock(loop& l) : loop_(l) {}

  // Asks TIME three times and trusts the quickest answer. Throws no_server.
  task<void> set(connection& c, time_point deadline) {
    duration quickest = duration::max();
    for (int i = 0; i < 3; ++i) {
      const time_point asked = loop_.now();
      const reply r = co_await c.demand(deadline, "TIME");
      const auto said = time_of_day(r);
      if (!said) {
        throw no_server(fmt::format("{} does not tell its time: it answered TIME with {}", c.name(),
                                    describe(r)));
      }
      const duration taken = loop_.now() - asked;
      if (taken >= quickest) continue;
      quickest = taken;
      epoch_ = asked + taken / 2 - *said;
    }
  }

  // Milliseconds since 1970. REQUIRES: set.
  std::int64_t now_ms() const {
    return std::chrono::floor<std::chrono::milliseconds>(loop_.now() - epoch_).count();
  }

 private:
  loop& loop_;
  time_point epoch_{};  // 1970, by the loop's clock
};

// --- the decisions of redis/getset, from the times that it writes and reads ---

// The millisecond in which a lock taken now ends: after the lease, never before.
constexpr std::int64_t ending_after(std::int64_t now_ms, std::int64_t lease_ms) {
  return now_ms + lease_ms + 1;
}

constexpr bool has_ended(std::int64_t until_ms, std::int64_t now_ms) {
  return until_ms < now_ms;
}

// Whether a lock with this value may be taken over. The value of a missing key is "", and one that
// is no time belongs to somebody else: neither is taken over.
inline bool may_take_over(std::string_view read, std::int64_t now_ms) {
  const auto until = whole_number<std::int64_t>(read);
  return until && has_ended(*until, now_ms);
}

// Whether nobody came in between, by GETSET's answer.
inline bool took_over(std::string_view read, const reply& got_back) {
  return got_back.is(reply::kind::text) && got_back.text == read;
}

}  // namespace lockmark::redis
