// What redis/getset decides from the times that it writes and reads, apart from the server.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

#include "drivers/redis/resp.hpp"

namespace lockmark::redis {

// The millisecond in which a lock ends that is taken now: after the lease, never before.
constexpr std::int64_t ending_after(std::int64_t now_ms, std::int64_t lease_ms) {
  return now_ms + lease_ms + 1;
}

constexpr bool has_ended(std::int64_t until_ms, std::int64_t now_ms) {
  return until_ms < now_ms;
}

// Whether a lock whose key reads so may be taken over. A key that is gone reads "", and one that
// is no time belongs to somebody else: neither is taken over.
inline bool may_take_over(std::string_view read, std::int64_t now_ms) {
  std::int64_t until = 0;
  const char* const end = read.data() + read.size();
  const auto [stop, status] = std::from_chars(read.data(), end, until);
  return !read.empty() && status == std::errc{} && stop == end && has_ended(until, now_ms);
}

// Whether GETSET's answer says that nobody came in between.
inline bool took_over(std::string_view read, const reply& got_back) {
  return got_back.is(reply::kind::text) && got_back.text == read;
}

}  // namespace lockmark::redis
