// The scripts that several of Redisson's locks run. What is a key and what an argument is part of
// the protocol; the text is our own.
//
// Source: RedissonLock and LockTask of Redisson 3.52, unchanged in 4.7.
#pragma once

#include <string_view>

namespace lockmark::redis {

// KEYS: lock. ARGV: lease in ms, owner. nil: taken; else how long the holder's lease still lasts.
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
