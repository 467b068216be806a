// redis/setnx_expire: setnx with a lease that comes too late.
//
// SETNX takes the key, EXPIRE then gives it a lease by a second command: a client that dies between
// the two keeps the lock for ever. DEL gives it up without looking whose it is. EXPIRE counts in
// whole seconds; a lease is rounded up to them.
#include "drivers/redis/lock_driver.hpp"
#include "drivers/redis/redis.hpp"

namespace lockmark::redis {
namespace {

class setnx_expire_session final : public lock_session {
 public:
  using lock_session::lock_session;

  task<outcome<grant>> acquire(request r) override {
    const grant g{.valid_until = end_of(r.lease)};
    const auto taken = co_await client(r).command(r, "SETNX", key(r), "1");
    const auto ending = done_if(taken, 1, g, refusal::busy);
    if (!ending.done()) co_return ending;
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(r.lease).count();
    const auto bounded = co_await client(r).command(r, "EXPIRE", key(r), seconds);
    // The key is taken, so this is no refusal; and nobody knows for how long.
    if (bounded.refused()) co_return doubt::connection_lost;
    co_return done_if(bounded, 1, g, refusal::busy);
  }

  task<outcome<nothing>> release(request r) override {
    const auto said = co_await client(r).command(r, "DEL", key(r));
    co_return done_if(said, 1, nothing{}, refusal::not_owner);
  }
};

}  // namespace

lock_kind setnx_expire() {
  return {
      .name = "redis/setnx_expire",
      .summary = "SETNX, then EXPIRE as a second command; DEL: who dies in between blocks for ever",
      .has = feature::lease,
      .promises = safety::none,
      .topologies = "redis redis-sentinel redis-cluster",
      .algorithm = "two commands, as often seen before SET knew NX and PX together",
      .options = {},
      .make =
          [](const driver_setup& s) {
            return make_driver(s, {{}, make_session<setnx_expire_session>});
          },
  };
}

}  // namespace lockmark::redis
