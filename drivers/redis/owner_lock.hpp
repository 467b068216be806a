// The parts of a lock that is a plain string, the mark of its owner: two scripts by which it stays
// its owner's, and the option `wait_replicas`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "drivers/redis/lock_session.hpp"

namespace lockmark::redis {

// KEYS: lock. ARGV: owner. 1: deleted; 0: it was somebody else's, or gone.
inline constexpr std::string_view delete_if_owner_lua = R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
)";

// KEYS: lock. ARGV: owner, lease in ms. 1: extended; 0: it was somebody else's, or gone.
inline constexpr std::string_view extend_if_owner_lua = R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
)";

// Their positions among the scripts of such a lock.
enum owner_script : std::size_t { delete_if_owner, extend_if_owner, first_other_script };

// SET answers OK or nil, the scripts 1 or 0.
inline bool is_yes(const reply& r) {
  return r.is(reply::kind::integer) ? r.number == 1 : r.is(reply::kind::status);
}

// A lock is only taken once this many replicas have confirmed it, as WAIT tells; otherwise it is
// given up again. A failover then loses it less often, not never: the replica that takes over may
// be one that has not confirmed.
lock_option wait_replicas_option();

// The option's value; 0 for locks without it. REQUIRES: the option accepts it.
std::int64_t replicas_wanted(const option_values& options);

// The ending of a lock that was taken, confirmed by too few replicas and given up again, with this
// outcome. It is still there if the giving up was not even asked for.
outcome<grant> ending_of_undone(const outcome<nothing>& undone);

}  // namespace lockmark::redis
