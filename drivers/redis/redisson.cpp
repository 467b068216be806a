// Redisson's RLock and two variants (3.52 to 4.7) as they are on the wire, so that real Redisson
// clients and these exclude each other. The lock is a hash with one field per holder,
// "<instance id>:<client>", that counts its re-entries; redisson_session.hpp describes the waiting.
//
// redis/redisson: RLock. No fencing token: best effort. With the option `watchdog`, which all of
// Redisson's locks have, holds are renewed every third of their lease, up to a hundred locks by one
// command.
//
// redis/redisson_spin: RSpinLock, the RLock without a channel. A release publishes nothing, and a
// client that finds the lock held asks again after a pause of its own (Redisson: 1 ms, doubled up
// to 128 ms). That pause belongs to the workload's retry policy here: the lock tries once. An
// RLock's waiter on the same name is not woken by it, and waits for the end of the lease.
//
// redis/redisson_fenced: RFencedLock, an RLock that counts its grants. Every grant, also a
// re-entry, takes the next number from a counter beside the lock that never expires: the fencing
// token, which never falls while the server keeps its data. The counter is an ordinary key, though:
// a failover that loses the lock may lose its last numbers too.
#include "drivers/redis/redis.hpp"
#include "drivers/redis/redisson_session.hpp"

namespace lockmark::redis {
namespace {

// KEYS: lock, latch. ARGV: lease in ms, owner, latch in ms.
// nil: not the owner's; 1: free now; 0: the owner still holds it.
constexpr std::string_view give_up_spin_lua = R"(
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

// KEYS: lock, counter. ARGV: lease in ms, owner. {-1, token}: taken; else {the holder's lease, -1}.
constexpr std::string_view take_fenced_lua = R"(
local held = redis.call('EXISTS', KEYS[1]) == 1
if held and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return {redis.call('PTTL', KEYS[1]), -1}
end
local token = redis.call('INCR', KEYS[2])
redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return {-1, token}
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

class fenced_session final : public redisson_session {
 public:
  fenced_session(loop& l, run_data& run, const instance& who) : redisson_session(l, run, who) {
    for (const std::string& k : run.keys) counters_.push_back(fencing_counter(k));
  }

 protected:
  task<outcome<reply>> ask(const rlock& what, const request& r, duration) override {
    return run_script(take_script, what, r, 2, what.name, counters_[r.key], milliseconds(r.lease),
                      what.holder);
  }

  std::optional<answer> read(const reply& r) const override {
    if (r.parts.size() != 2) return std::nullopt;
    const std::int64_t token = r.parts[1].number;
    return answer{.taken = token >= 0,
                  .pttl_ms = r.parts[0].number,
                  .token = token >= 0 ? static_cast<std::uint64_t>(token) : 0};
  }

 private:
  std::vector<std::string> counters_;  // by request::key
};

std::vector<std::string> counter_beside(const std::string& lock, const option_values&) {
  return {fencing_counter(lock)};
}

constexpr recipe rlock_recipe{
    .make_session = make_session<redisson_session>,
    .scripts = {redisson_take_lua, redisson_give_up_lua, redisson_extend_lua},
    .connections_beside = 1,
    .watchdog_batch = redisson_batch};
constexpr recipe spin_recipe{.make_session = make_session<spin_session>,
                             .scripts = {redisson_take_lua, give_up_spin_lua, redisson_extend_lua},
                             .watchdog_batch = redisson_batch};
constexpr recipe fenced_recipe{
    .make_session = make_session<fenced_session>,
    .scripts = {take_fenced_lua, redisson_give_up_lua, redisson_extend_lua},
    .connections_beside = 1,
    .watchdog_batch = redisson_batch,
    .beside = counter_beside};

}  // namespace

lock_kind redisson() {
  return {
      .name = "redis/redisson",
      .summary = "Redisson's RLock: reentrant hash, pub/sub wake-up",
      .has = feature::lease | feature::renewable | feature::server_wait | feature::reentrant,
      .promises = safety::best_effort,
      .topologies = one_deployment,
      .algorithm = "Redisson 3.52 to 4.7, RLock",
      .cost = {3, 2},
      .options = redisson_options(),
      .make = make_driver_of<rlock_recipe>,
  };
}

lock_kind redisson_spin() {
  return {
      .name = "redis/redisson_spin",
      .summary =
          "Redisson's RSpinLock: RLock's hash, no channel; tries once, the back-off is the "
          "workload's",
      .has = feature::lease | feature::renewable | feature::reentrant,
      .promises = safety::best_effort,
      .topologies = one_deployment,
      .algorithm = "Redisson 3.52 to 4.7, RSpinLock",
      .cost = {3, 2},
      .options = redisson_options(),
      .make = make_driver_of<spin_recipe>,
  };
}

lock_kind redisson_fenced() {
  return {
      .name = "redis/redisson_fenced",
      .summary = "Redisson's RFencedLock: RLock with a counter as fencing token",
      .has = feature::lease | feature::renewable | feature::server_wait | feature::reentrant |
             feature::fencing_token,
      .promises = safety::lease_and_token,
      .topologies = one_deployment,
      .algorithm = "Redisson 3.52 to 4.7, RFencedLock",
      .cost = {3, 2},
      .options = redisson_options(),
      .make = make_driver_of<fenced_recipe>,
  };
}

}  // namespace lockmark::redis
