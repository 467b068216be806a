// redis/redisson_red: Redisson's RedissonRedLock, an RMultiLock that a majority is enough for.
//
// One RLock in each of several masters that know nothing of each other, taken one after the other,
// each waited for a share of the time. It is not the lock of redis/redlock: hashes instead of
// strings, in sequence instead of at once, and whether the lease is still valid when the last was
// taken is not looked at. Redisson itself advises against it by now.
#include "drivers/redis/redis.hpp"
#include "drivers/redis/redisson_multi.hpp"

namespace lockmark::redis {
namespace {

class red_session final : public multi_session {
 public:
  red_session(loop& l, run_data& run, const instance& who)
      : multi_session(l, run, who, run.places.size(), majority_of(run.places.size()),
                      run.places.size()) {}
};

}  // namespace

lock_kind redisson_red() {
  return {
      .name = "redis/redisson_red",
      .summary = "Redisson's RedissonRedLock: RLocks in a majority of masters; checks no validity",
      .has = feature::lease | feature::renewable | feature::server_wait | feature::reentrant,
      .promises = safety::best_effort,
      .topologies = "redis-independent",
      .algorithm = "Redisson 3.52 to 4.7, RedissonRedLock (deprecated)",
      .options = {},
      .make =
          [](const driver_setup& s) {
            return make_driver(
                s, {.scripts = {redisson_take_lua, redisson_give_up_lua, redisson_extend_lua},
                    .make_session = make_session<red_session>,
                    .over = spread::majority,
                    .connections_beside = 1});
          },
  };
}

}  // namespace lockmark::redis
