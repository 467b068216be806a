// Redisson's names of the things around a lock, so that its clients and ours exclude each other.
//
// Source: RedissonObject's prefixName and suffixName in Redisson 3.52 (unchanged in 4.7).
#pragma once

#include <string>
#include <string_view>

namespace lockmark::redis {

// "prefix:{name}", but "prefix:name" for a name that has braces of its own.
inline void append_prefixed(std::string& out, std::string_view prefix, std::string_view name) {
  const bool has_braces = name.find('{') != name.npos;
  out.append(prefix).append(has_braces ? ":" : ":{").append(name);
  if (!has_braces) out += '}';
}

// Where a release is announced to waiters.
inline void append_channel(std::string& out, std::string_view lock) {
  append_prefixed(out, "redisson_lock__channel", lock);
}

// Where the answer to one release is kept, so that repeating the request repeats the answer.
inline void append_latch(std::string& out, std::string_view lock, std::string_view request_id) {
  append_prefixed(out, "redisson_unlock_latch", lock);
  out.append(":").append(request_id);
}

}  // namespace lockmark::redis
