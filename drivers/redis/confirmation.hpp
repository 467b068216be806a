// The option `wait_replicas` of locks that are a plain string: a lock is only taken once so many
// replicas have confirmed it, as WAIT tells. Otherwise it is given up again.
//
// That makes a failover lose it less often, not never: the replica that takes over may be one that
// has not confirmed.
#pragma once

#include <cstdint>

#include "drivers/redis/lock_session.hpp"

namespace lockmark::redis {

lock_option wait_replicas_option();

// The option's value; 0 for locks that do not have it. REQUIRES: the option accepts it.
std::int64_t replicas_wanted(const option_values& options);

// What was taken, confirmed by too few replicas, and given up again, with this answer. It is still
// there if the giving up was not even asked for.
outcome<grant> ending_of_undone(const outcome<nothing>& undone);

}  // namespace lockmark::redis
