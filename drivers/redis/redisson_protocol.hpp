// Redisson's protocol, as far as several of its locks share it, so that its clients and ours
// exclude each other: the names of the things around a lock, and the scripts. The keys and
// arguments of a script are part of the protocol; its text is our own.
//
// Source: RedissonObject's prefixName and suffixName, RedissonLock and LockTask of Redisson 3.52,
// unchanged in 4.7.
#pragma once

#include <string>
#include <string_view>

namespace lockmark::redis {

// --- names ---

// "prefix:{name}", but "prefix:name" for a name that has braces of its own.
inline void append_prefixed(std::string& out, std::string_view prefix, std::string_view name) {
  const bool has_braces = name.find('{') != name.npos;
  out.append(prefix).append(has_braces ? ":" : ":{").append(name);
  if (!has_braces) out += '}';
}
inline std::string prefixed(std::string_view prefix, std::string_view name) {
  std::string out;
  append_prefixed(out, prefix, name);
  return out;
}

// The channel on which a release is announced to waiters; of a read-write lock, to both halves.
inline void append_channel(std::string& out, std::string_view lock) {
  append_prefixed(out, "redisson_lock__channel", lock);
}
inline void append_rw_channel(std::string& out, std::string_view lock) {
  append_prefixed(out, "redisson_rwlock", lock);
}

// The key with the answer to one release, so that repeating the request repeats the answer.
inline void append_latch(std::string& out, std::string_view lock, std::string_view request_id) {
  append_prefixed(out, "redisson_unlock_latch", lock);
  out.append(":").append(request_id);
}

// Beside a fair lock: its waiters in order, and the ends of their waits.
inline std::string fair_queue(std::string_view lock) {
  return prefixed("redisson_lock_queue", lock);
}
inline std::string fair_timeouts(std::string_view lock) {
  return prefixed("redisson_lock_timeout", lock);
}

// The counter of a fenced lock.
inline std::string fencing_counter(std::string_view lock) {
  return prefixed("redisson_lock_token", lock);
}

// The beginning of the names of all readers' timeouts, before ":" and the reader.
inline std::string reader_prefix(std::string_view lock) {
  const bool has_braces = lock.find('{') != lock.npos;
  return has_braces ? std::string{lock} : std::string{"{"}.append(lock).append("}");
}
// The leases of one reader's holds: its n-th hold has a key of this name and ":n".
inline std::string reader_timeouts(std::string_view lock, std::string_view reader) {
  return reader_prefix(lock).append(":").append(reader).append(":rwlock_timeout");
}

// --- scripts ---

// KEYS: lock. ARGV: lease in ms, owner. nil: taken; else the rest of the holder's lease.
inline constexpr std::string_view redisson_take_lua = R"(
local held = redis.call('EXISTS', KEYS[1]) == 1
if held and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return redis.call('PTTL', KEYS[1])
end
redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return nil
)";

// KEYS: lock, channel, latch. ARGV: message, lease in ms, owner, publishing command, latch in ms.
// nil: not the owner's; 1: free now; 0: the owner still holds it.
inline constexpr std::string_view redisson_give_up_lua = R"(
local answered = redis.call('GET', KEYS[3])
if answered then return tonumber(answered) end
if redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then return nil end
local still = redis.call('HINCRBY', KEYS[1], ARGV[3], -1) > 0
if still then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  redis.call('SET', KEYS[3], 0, 'PX', ARGV[5])
  return 0
end
redis.call('DEL', KEYS[1])
redis.call(ARGV[4], KEYS[2], ARGV[1])
redis.call('SET', KEYS[3], 1, 'PX', ARGV[5])
return 1
)";

// The watchdog's. KEYS: locks. ARGV: lease in ms, then each lock's owner. 1 each: extended.
inline constexpr std::string_view redisson_extend_lua = R"(
local extended = {}
for i, lock in ipairs(KEYS) do
  extended[i] = redis.call('HEXISTS', lock, ARGV[i + 1])
  if extended[i] == 1 then redis.call('PEXPIRE', lock, ARGV[1]) end
end
return extended
)";

}  // namespace lockmark::redis
