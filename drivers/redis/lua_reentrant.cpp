// redis/lua_reentrant: a hash that counts its owner's acquires, by scripts, without Redisson's
// messages to those who wait.
//
// acquire   EVALSHA take: EXISTS and not HEXISTS owner: 0; else HINCRBY owner 1, PEXPIRE, 1
// release   EVALSHA give up: HEXISTS owner 0: nil; HINCRBY owner -1; above 0: 0; else DEL, 1
// renew     EVALSHA extend: HEXISTS owner, PEXPIRE
//
// Whoever finds the lock held asks again after a pause, which belongs to the workload's retry
// policy. Each acquire sets the lease anew; a release that is not the last leaves it as it is.
#include "drivers/redis/lock_driver.hpp"
#include "drivers/redis/redis.hpp"

namespace lockmark::redis {
namespace {

// KEYS: lock. ARGV: owner, lease in ms. 1: taken; 0: it is somebody else's.
constexpr std::string_view enter_lua = R"(
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
)";

// KEYS: lock. ARGV: owner. nil: not the owner's; 1: free now; 0: the owner still holds it.
constexpr std::string_view leave_lua = R"(
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return nil end
if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) > 0 then return 0 end
redis.call('DEL', KEYS[1])
return 1
)";

// KEYS: lock. ARGV: owner, lease in ms. 1: extended; 0: it was somebody else's, or gone.
constexpr std::string_view stay_lua = R"(
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
)";

enum counted_script : std::size_t { enter, leave, stay };

class counted_session final : public lock_session {
 public:
  using lock_session::lock_session;

  task<outcome<grant>> acquire(request r) override { return set_lease(r, enter, refusal::busy); }
  task<outcome<grant>> renew(request r) override { return set_lease(r, stay, refusal::not_owner); }

  task<outcome<nothing>> release(request r) override {
    const auto said = co_await client(r).evaluate(r, run_.scripts[leave], 1, key(r), owner(r));
    if (!said.done()) co_return said.without_value<nothing>();
    if (!said.value().is(reply::kind::integer)) co_return refusal::not_owner;
    co_return nothing{};
  }

 private:
  task<outcome<grant>> set_lease(request r, counted_script how, refusal otherwise) {
    const grant g{.valid_until = end_of(r.lease)};
    const auto said = co_await client(r).evaluate(r, run_.scripts[how], 1, key(r), owner(r),
                                                  milliseconds(r.lease));
    co_return done_if(said, 1, g, otherwise);
  }
};

constexpr recipe by_count{.make_session = make_session<counted_session>,
                          .scripts = {enter_lua, leave_lua, stay_lua}};

}  // namespace

lock_kind lua_reentrant() {
  return {
      .name = "redis/lua_reentrant",
      .summary = "a hash that counts its owner's acquires, by scripts; nobody is told of a release",
      .has = feature::lease | feature::renewable | feature::reentrant,
      .promises = safety::best_effort,
      .topologies = one_deployment,
      .algorithm =
          "EXISTS, HEXISTS, HINCRBY and PEXPIRE in a script, as Redisson's without PUBLISH",
      .cost = {2, 2},
      .options = {},
      .make = make_driver_of<by_count>,
  };
}

}  // namespace lockmark::redis
