// Locks in Redis: the rows of `lockmark list`.
#pragma once

#include <vector>

#include "harness/driver.hpp"

namespace lockmark::redis {

lock_kind setnx();            // setnx.cpp
lock_kind setnx_expire();     // setnx.cpp
lock_kind getset();           // getset.cpp
lock_kind set_nx_px();        // owner_lock.cpp
lock_kind lua();              // owner_lock.cpp
lock_kind lua_reentrant();    // lua_reentrant.cpp
lock_kind redisson();         // redisson.cpp
lock_kind redisson_spin();    // redisson.cpp
lock_kind redisson_fair();    // redisson_fair.cpp
lock_kind redisson_read();    // redisson_read_write.cpp
lock_kind redisson_write();   // redisson_read_write.cpp
lock_kind redisson_fenced();  // redisson.cpp
lock_kind redisson_multi();   // redisson_multi.cpp
lock_kind redisson_red();     // redisson_multi.cpp
lock_kind redlock();          // redlock.cpp
lock_kind sharded();          // owner_lock.cpp

// In the order of `lockmark list`.
inline std::vector<lock_kind> kinds() {
  return {
      setnx(),          setnx_expire(),    getset(),         set_nx_px(),     lua(),
      lua_reentrant(),  redisson(),        redisson_spin(),  redisson_fair(), redisson_read(),
      redisson_write(), redisson_fenced(), redisson_multi(), redisson_red(),  redlock(),
      sharded(),
  };
}

}  // namespace lockmark::redis
