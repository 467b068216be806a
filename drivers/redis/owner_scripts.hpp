// The two scripts by which a lock that is a plain string stays its owner's: shared by every lock
// that marks its key with the owner, so that they differ only where they are meant to.
#pragma once

#include <cstddef>
#include <string_view>

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

// Where they stand among the scripts of a lock that has them.
enum owner_script : std::size_t { delete_if_owner, extend_if_owner };

}  // namespace lockmark::redis
