// Locks in Redis: the rows of `lockmark list`.
#pragma once

#include <vector>

#include "harness/driver.hpp"

namespace lockmark::redis {

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

// In the order of `lockmark list`.
inline std::vector<lock_kind> kinds() {
  return {
      setnx(),           setnx_expire(),   getset(),        set_nx_px(),     lua(),
      redisson(),        redisson_spin(),  redisson_fair(), redisson_read(), redisson_write(),
      redisson_fenced(), redisson_multi(), redisson_red(),  redlock(),       sharded(),
  };
}

}  // namespace lockmark::redis
