// redis/sharded: several deployments that know nothing of each other, and each key lives in one.
//
// The key's hash says in which; there it is the lock of redis/set_nx_px: SET NX PX, and scripts
// that look for the owner. More deployments carry more keys, never one key better: if a
// deployment is down, so are its keys.
#include "drivers/redis/lock_driver.hpp"
#include "drivers/redis/owner_scripts.hpp"
#include "drivers/redis/redis.hpp"
#include "drivers/redis/shard.hpp"

namespace lockmark::redis {
namespace {

class sharded_session final : public lock_session {
 public:
  using lock_session::lock_session;

  task<outcome<grant>> acquire(request r) override {
    const grant g{.valid_until = end_of(r.lease)};
    const auto said =
        co_await home(r).command(r, "SET", key(r), owner(r), "NX", "PX", milliseconds(r.lease));
    if (!said.done()) co_return said.without_value<grant>();
    if (said.value().is(reply::kind::nil)) co_return refusal::busy;
    co_return g;
  }

  task<outcome<grant>> renew(request r) override {
    const grant g{.valid_until = end_of(r.lease)};
    const auto said = co_await home(r).evaluate(r, run_.scripts[extend_if_owner], 1, key(r),
                                                owner(r), milliseconds(r.lease));
    co_return done_if(said, 1, g, refusal::not_owner);
  }

  task<outcome<nothing>> release(request r) override {
    const auto said =
        co_await home(r).evaluate(r, run_.scripts[delete_if_owner], 1, key(r), owner(r));
    co_return done_if(said, 1, nothing{}, refusal::not_owner);
  }

 private:
  connection& home(const request& r) { return client(r, shard_of(key(r), places())); }
};

}  // namespace

lock_kind sharded() {
  return {
      .name = "redis/sharded",
      .summary = "SET NX PX in one of several deployments, chosen by the key's hash",
      .has = feature::lease | feature::renewable,
      .promises = safety::best_effort,
      .topologies = "redis-independent",
      .algorithm = "FNV-1a of the key, modulo the number of deployments; then redis/set_nx_px",
      .options = {},
      .make =
          [](const driver_setup& s) {
            return make_driver(s, {.scripts = {delete_if_owner_lua, extend_if_owner_lua},
                                   .make_session = make_session<sharded_session>,
                                   .over = spread::all_places});
          },
  };
}

}  // namespace lockmark::redis
