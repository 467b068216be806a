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

// "{name}:suffix", but "name:suffix" for a name that has braces of its own.
inline void append_suffixed(std::string& out, std::string_view name, std::string_view suffix) {
  const bool has_braces = name.find('{') != name.npos;
  out.append(has_braces ? "" : "{").append(name).append(has_braces ? ":" : "}:").append(suffix);
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

// The same for readers and writers.
inline void append_rw_channel(std::string& out, std::string_view lock) {
  append_prefixed(out, "redisson_rwlock", lock);
}

// What stands beside a fair lock: who waits, in order, and until when.
inline std::string fair_queue(std::string_view lock) {
  std::string name;
  append_prefixed(name, "redisson_lock_queue", lock);
  return name;
}
inline std::string fair_timeouts(std::string_view lock) {
  std::string name;
  append_prefixed(name, "redisson_lock_timeout", lock);
  return name;
}

// The counter of a fenced lock.
inline std::string fencing_counter(std::string_view lock) {
  std::string name;
  append_prefixed(name, "redisson_lock_token", lock);
  return name;
}

// How long a reader's holds last: its n-th hold has a key of this name and ":n".
inline std::string reader_timeouts(std::string_view lock, std::string_view reader) {
  std::string name;
  append_suffixed(name, lock, reader);
  return name.append(":rwlock_timeout");
}
// What the names of all readers' timeouts begin with, before ":" and the reader.
inline std::string reader_prefix(std::string_view lock) {
  const bool has_braces = lock.find('{') != lock.npos;
  return has_braces ? std::string{lock} : std::string{"{"}.append(lock).append("}");
}

}  // namespace lockmark::redis
