// redis/redisson_spin: Redisson's RSpinLock, the RLock without a channel.
//
// The hash is RLock's, and so is who may take it; but nothing is published when it is given up, and
// who finds it held asks again after a pause of its own (Redisson: 1 ms, doubled up to 128 ms).
// That pause belongs to the workload's retry policy here: the lock tries once. An RLock's waiter on
// the same name is not woken by it, and waits for the end of the lease.
#include "drivers/redis/redis.hpp"
#include "drivers/redis/redisson_session.hpp"

namespace lockmark::redis {
namespace {

// KEYS: lock, latch. ARGV: lease in ms, owner, latch in ms.
// nil: not the owner's; 1: free now; 0: the owner still holds it.
constexpr std::string_view give_up_lua = R"(
local answered = redis.call('GET', KEYS[2])
if answered then return tonumber(answered) end
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then return nil end
local still = redis.call('HINCRBY', KEYS[1], ARGV[2], -1) > 0
if still then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  redis.call('SET', KEYS[2], 0, 'PX', ARGV[3])
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[2], 1, 'PX', ARGV[3])
return 1
)";

class spin_session final : public redisson_session {
 public:
  using redisson_session::redisson_session;

 protected:
  bool waits() const override { return false; }

  task<outcome<reply>> tell(const rlock& what, const request& r, std::string_view,
                            std::string_view latch) override {
    return run_script(give_up_script, what, r, 2, what.name, latch, milliseconds(r.lease),
                      what.holder, latch_ms);
  }
};

}  // namespace

lock_kind redisson_spin() {
  return {
      .name = "redis/redisson_spin",
      .summary =
          "Redisson's RSpinLock: RLock's hash, no channel; tries once, the back-off is the "
          "workload's",
      .has = feature::lease | feature::renewable | feature::reentrant,
      .promises = safety::best_effort,
      .topologies = "redis redis-sentinel redis-cluster",
      .algorithm = "Redisson 3.52 to 4.7, RSpinLock",
      .options = {wait_option()},
      .make =
          [](const driver_setup& s) {
            return make_driver(s, {.scripts = {redisson_take_lua, give_up_lua, redisson_extend_lua},
                                   .make_session = make_session<spin_session>});
          },
  };
}

}  // namespace lockmark::redis
