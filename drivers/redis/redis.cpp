#include "drivers/redis/redis.hpp"

namespace lockmark::redis {

std::vector<lock_kind> kinds() {
  return {setnx(), lua(), set_nx_px(), redisson()};
}

}  // namespace lockmark::redis
