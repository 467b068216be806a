// redis/setnx: the oldest and simplest lock, shown for what it is worth.
// redis/setnx_expire: the same with a lease that comes too late.
//
// SETNX takes the key, DEL gives it up. Without a lease, a client that dies keeps the lock for
// ever. No owner's mark is checked: a DEL frees the lock, also somebody else's.
//
// setnx_expire sets the lease by a second command, EXPIRE: a client that dies between the two keeps
// the lock for ever. EXPIRE counts whole seconds; a lease is rounded up to them.
#include "drivers/redis/lock_driver.hpp"
#include "drivers/redis/redis.hpp"

namespace lockmark::redis {
namespace {

class setnx_session : public lock_session {
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

class setnx_expire_session final : public setnx_session {
 public:
  using setnx_session::setnx_session;

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
};

constexpr recipe by_setnx{.make_session = make_session<setnx_session>};
constexpr recipe by_setnx_and_expire{.make_session = make_session<setnx_expire_session>};

}  // namespace

lock_kind setnx() {
  return {
      .name = "redis/setnx",
      .summary = "SETNX and DEL: no lease, no owner",
      .has = {},
      .promises = safety::none,
      .topologies = one_deployment,
      .algorithm = "the pattern of the SETNX page of Redis's documentation",
      .cost = {2, 2},
      .options = {},
      .make = make_driver_of<by_setnx>,
  };
}

lock_kind setnx_expire() {
  return {
      .name = "redis/setnx_expire",
      .summary =
          "SETNX, then EXPIRE as a second command; DEL: a crash in between leaves the lock held "
          "forever",
      .has = feature::lease,
      .promises = safety::none,
      .topologies = one_deployment,
      .algorithm = "two commands, as often seen before SET knew NX and PX together",
      .cost = {3, 3},
      .options = {},
      .make = make_driver_of<by_setnx_and_expire>,
  };
}

}  // namespace lockmark::redis
