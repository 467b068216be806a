// redis/redisson: Redisson's RLock (3.52 to 4.7) as it is on the wire, so that real Redisson
// clients and these exclude and wake each other.
//
// The lock is a hash with one field per holder, "<instance id>:<client>", that counts its
// re-entries; how it is waited for is in redisson_session.hpp. With the option `watchdog`, what is
// held is renewed every third of its lease, up to a hundred locks by one command. No fencing
// token: best effort.
#include "drivers/redis/redis.hpp"
#include "drivers/redis/redisson_session.hpp"

namespace lockmark::redis {
namespace {

class rlock_session final : public redisson_session {
 public:
  using redisson_session::redisson_session;
};

}  // namespace

lock_kind redisson() {
  return {
      .name = "redis/redisson",
      .summary = "Redisson's RLock: reentrant hash, pub/sub wake-up",
      .has = feature::lease | feature::renewable | feature::server_wait | feature::reentrant,
      .promises = safety::best_effort,
      .topologies = "redis redis-sentinel redis-cluster",
      .algorithm = "Redisson 3.52 to 4.7, RLock",
      .options = {watchdog_option(), wait_option()},
      .make =
          [](const driver_setup& s) {
            return make_driver(
                s, {.scripts = {redisson_take_lua, redisson_give_up_lua, redisson_extend_lua},
                    .make_session = make_session<rlock_session>,
                    .connections_beside = 1,
                    .watchdog_batch = watched(s.options) ? redisson_batch : 0U});
          },
  };
}

}  // namespace lockmark::redis
