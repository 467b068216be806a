// Locks in Redis: the rows of `lockmark list`.
#pragma once

#include <vector>

#include "harness/driver.hpp"

namespace lockmark::redis {

std::vector<lock_kind> kinds();

// One lock each, in the file of its name.
lock_kind setnx();
lock_kind setnx_expire();
lock_kind getset();
lock_kind set_nx_px();
lock_kind lua();
lock_kind redisson();
lock_kind redisson_spin();
lock_kind redisson_fair();
lock_kind redisson_read();
lock_kind redisson_write();
lock_kind redisson_fenced();
lock_kind redisson_multi();
lock_kind redisson_red();
lock_kind redlock();
lock_kind sharded();

}  // namespace lockmark::redis
