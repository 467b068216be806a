// redis/lua: the lock of most small libraries, made of two scripts.
//
// Acquire is SETNX and PEXPIRE in one script; release deletes the key only if it still holds the
// owner's mark; renew extends it under the same condition. Best effort: a lease that ran out, or a
// failover that lost the key, lets a second holder in, and there is no fencing token.
//
// With the option `watchdog`, what is held is renewed every third of its lease in the background.
#include <memory>

#include "drivers/redis/confirmation.hpp"
#include "drivers/redis/lock_driver.hpp"
#include "drivers/redis/owner_scripts.hpp"
#include "drivers/redis/redis.hpp"
#include "drivers/redis/watchdog.hpp"

namespace lockmark::redis {
namespace {

// After the two of owner_scripts.hpp.
constexpr std::size_t take_script = extend_if_owner + 1;

// KEYS: lock. ARGV: owner, lease in ms. 1: taken.
constexpr std::string_view take_lua = R"(
if redis.call('SETNX', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
)";

class lua_session final : public lock_session {
 public:
  lua_session(loop& l, run_data& run, const instance& who)
      : lock_session(l, run, who), replicas_(replicas_wanted(run.options)) {
    if (!watched(run.options)) return;
    watchdog_ =
        std::make_unique<watchdog>(l, servers_of(0), sent_, who.clients, 1,
                                   [this](connection& c, const std::vector<watchdog::hold>& one,
                                          duration lease, time_point deadline) {
                                     const request r{.key = one[0].key, .client = one[0].client};
                                     return c.evaluate(deadline, run_.scripts[extend_if_owner], 1,
                                                       key(r), owner(r), milliseconds(lease));
                                   });
  }

  task<outcome<grant>> acquire(request r) override {
    task<outcome<grant>> asked = replicas_ > 0 ? take_confirmed(r) : take_alone(r);
    const outcome<grant> ending = co_await std::move(asked);
    if (watchdog_ && ending.done()) {
      watchdog_->add({r.key, r.client}, r.lease, ending.value().valid_until);
    }
    co_return ending;
  }

  task<outcome<grant>> renew(request r) override {
    const grant g{.valid_until = end_of(r.lease)};
    const auto said = co_await client(r).evaluate(r, run_.scripts[extend_if_owner], 1, key(r),
                                                  owner(r), milliseconds(r.lease));
    co_return done_if(said, 1, g, refusal::not_owner);
  }

  task<outcome<nothing>> release(request r) override {
    if (watchdog_) watchdog_->remove({r.key, r.client});
    const auto said =
        co_await client(r).evaluate(r, run_.scripts[delete_if_owner], 1, key(r), owner(r));
    co_return done_if(said, 1, nothing{}, refusal::not_owner);
  }

  task<void> close() override {
    if (watchdog_) co_await watchdog_->close();
    co_await lock_session::close();
    if (watchdog_) watchdog_->throw_failure();
  }

 private:
  task<outcome<grant>> take_alone(request r) {
    const grant g{.valid_until = end_of(r.lease)};
    const auto said = co_await client(r).evaluate(r, run_.scripts[take_script], 1, key(r), owner(r),
                                                  milliseconds(r.lease));
    co_return done_if(said, 1, g, refusal::busy);
  }

  task<outcome<grant>> take_confirmed(request r) {
    const grant g{.valid_until = end_of(r.lease)};
    const auto said = co_await client(r).evaluate_confirmed(
        r, replicas_, run_.scripts[take_script], 1, key(r), owner(r), milliseconds(r.lease));
    if (!said.done()) co_return said.without_value<grant>();
    const bool taken = said.value().said.number == 1;
    if (!taken) co_return refusal::busy;
    if (said.value().confirmed >= replicas_) co_return g;
    const auto undone = co_await client(r).evaluate(taking_back(r), run_.scripts[delete_if_owner],
                                                    1, key(r), owner(r));
    co_return ending_of_undone(done_if(undone, 1, nothing{}, refusal::not_owner));
  }

  std::int64_t replicas_;               // that have to confirm a lock; 0: none
  std::unique_ptr<watchdog> watchdog_;  // null: without
};

}  // namespace

lock_kind lua() {
  return {
      .name = "redis/lua",
      .summary = "SETNX and PEXPIRE in a script; compare-and-delete in another",
      .has = feature::lease | feature::renewable,
      .promises = safety::best_effort,
      .topologies = "redis redis-sentinel redis-cluster",
      .algorithm = "two scripts, as most small Redis lock libraries have them",
      .options = {watchdog_option(), wait_replicas_option()},
      .make =
          [](const driver_setup& s) {
            return make_driver(s, {.scripts = {delete_if_owner_lua, extend_if_owner_lua, take_lua},
                                   .make_session = make_session<lua_session>,
                                   .watchdog_batch = watched(s.options) ? 1U : 0U});
          },
  };
}

}  // namespace lockmark::redis
