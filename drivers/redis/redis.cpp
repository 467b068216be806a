#include "drivers/redis/redis.hpp"

namespace lockmark::redis {

std::vector<lock_kind> kinds() {
  return {
      setnx(),           setnx_expire(),   getset(),        set_nx_px(),     lua(),
      redisson(),        redisson_spin(),  redisson_fair(), redisson_read(), redisson_write(),
      redisson_fenced(), redisson_multi(), redisson_red(),  redlock(),       sharded(),
  };
}

}  // namespace lockmark::redis
