// redis/setnx: the oldest and simplest lock, shown for what it is worth.
//
// SETNX takes the key, DEL gives it up. No lease: a client that dies keeps the lock for ever. No
// owner's mark is looked at: whoever deletes the key frees the lock, also somebody else's.
#include "drivers/redis/lock_driver.hpp"
#include "drivers/redis/redis.hpp"

namespace lockmark::redis {
namespace {

class setnx_session final : public lock_session {
 public:
  using lock_session::lock_session;

  task<outcome<grant>> acquire(request r) override {
    const auto said = co_await client(r).command(r, "SETNX", key(r), "1");
    co_return done_if(said, 1, grant{}, refusal::busy);
  }

  task<outcome<nothing>> release(request r) override {
    const auto said = co_await client(r).command(r, "DEL", key(r));
    co_return done_if(said, 1, nothing{}, refusal::not_owner);
  }
};

}  // namespace

lock_kind setnx() {
  return {
      .name = "redis/setnx",
      .summary = "SETNX and DEL: no lease, no owner",
      .has = {},
      .promises = safety::none,
      .topologies = "redis redis-sentinel redis-cluster",
      .algorithm = "the pattern of the SETNX page of Redis's documentation",
      .options = {},
      .make =
          [](const driver_setup& s) {
            return make_driver(s, {{}, make_session<setnx_session>});
          },
  };
}

}  // namespace lockmark::redis
