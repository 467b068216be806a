// redis/redisson_fair: Redisson's fair lock, an RLock whose waiters stand in a queue.
//
// The queue is a list of holders' names; a sorted set has the end of each place in it, by the
// clients' clocks. Only the head of the queue may take a free lock. A release is announced to the
// head alone, on a channel of its own; a waiter that gives up removes its name from the queue. The
// next client drops places whose time has passed, so a dead waiter delays the others until then: up
// to the time that it wanted to wait, for each.
//
// If a head that was just called gives up, nobody is woken: the waiters behind it ask again when
// the lease that they were told of has run out. Redisson does the same.
//
// A place's end is the last one's plus a wait, and each grant takes a wait off all of them. So the
// end of the head does not move while the queue never runs empty: a lease and a wait after it last
// was empty, the head is dropped though it waits. Nobody wakes it then, and its attempt times out.
#include "drivers/redis/redis.hpp"
#include "drivers/redis/redisson_session.hpp"
#include "drivers/redis/wall_clock.hpp"

namespace lockmark::redis {
namespace {

// KEYS: lock, queue, timeouts. ARGV: lease in ms, owner, wait in ms, now in ms since 1970.
// nil: taken; else the number of ms after which to ask again.
constexpr std::string_view take_fair_lua = R"(
local lease, me, wait, now = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
while true do
  local head = redis.call('LINDEX', KEYS[2], 0)
  if not head then break end
  local until_when = redis.call('ZSCORE', KEYS[3], head)
  if not until_when or tonumber(until_when) > now then break end
  redis.call('ZREM', KEYS[3], head)
  redis.call('LPOP', KEYS[2])
end
if redis.call('EXISTS', KEYS[1]) == 0 and
   (redis.call('EXISTS', KEYS[2]) == 0 or redis.call('LINDEX', KEYS[2], 0) == me) then
  redis.call('LPOP', KEYS[2])
  redis.call('ZREM', KEYS[3], me)
  for _, waiter in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
    redis.call('ZINCRBY', KEYS[3], -wait, waiter)
  end
  redis.call('HSET', KEYS[1], me, 1)
  redis.call('PEXPIRE', KEYS[1], lease)
  return nil
end
if redis.call('HEXISTS', KEYS[1], me) == 1 then
  redis.call('HINCRBY', KEYS[1], me, 1)
  redis.call('PEXPIRE', KEYS[1], lease)
  return nil
end
if redis.call('ZSCORE', KEYS[3], me) then
  return math.max(0, redis.call('PTTL', KEYS[1]))
end
local last = redis.call('LINDEX', KEYS[2], -1)
local before = last and last ~= me and redis.call('ZSCORE', KEYS[3], last)
local ttl = before and tonumber(before) - now or redis.call('PTTL', KEYS[1])
if redis.call('ZADD', KEYS[3], ttl + wait + now, me) == 1 then
  redis.call('RPUSH', KEYS[2], me)
end
return ttl
)";

// KEYS: lock, queue, timeouts, channels' prefix, latch.
// ARGV: message, lease in ms, owner, now in ms since 1970, publishing command, latch in ms.
// nil: somebody else's; 1: free now; 0: the owner still holds it; 2: it was free already, which is
// a success for Redisson.
constexpr std::string_view give_up_fair_lua = R"(
local answered = redis.call('GET', KEYS[5])
if answered then return tonumber(answered) end
while true do
  local head = redis.call('LINDEX', KEYS[2], 0)
  if not head then break end
  local until_when = redis.call('ZSCORE', KEYS[3], head)
  if not until_when or tonumber(until_when) > tonumber(ARGV[4]) then break end
  redis.call('ZREM', KEYS[3], head)
  redis.call('LPOP', KEYS[2])
end
local was_free = redis.call('EXISTS', KEYS[1]) == 0
if not was_free then
  if redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then return nil end
  if redis.call('HINCRBY', KEYS[1], ARGV[3], -1) > 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    redis.call('SET', KEYS[5], 0, 'PX', ARGV[6])
    return 0
  end
  redis.call('DEL', KEYS[1])
end
redis.call('SET', KEYS[5], 1, 'PX', ARGV[6])
local head = redis.call('LINDEX', KEYS[2], 0)
if head then redis.call(ARGV[5], KEYS[4] .. ':' .. head, ARGV[1]) end
return was_free and 2 or 1
)";

// KEYS: queue, timeouts. ARGV: owner, wait in ms. Waiters behind it no longer wait for it.
constexpr std::string_view leave_queue_lua = R"(
local behind = false
for _, waiter in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if behind then redis.call('ZINCRBY', KEYS[2], -tonumber(ARGV[2]), waiter) end
  if waiter == ARGV[1] then behind = true end
end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('LREM', KEYS[1], 0, ARGV[1])
)";

class fair_session final : public redisson_session {
 public:
  fair_session(loop& l, run_data& run, const instance& who)
      : redisson_session(l, run, who), clock_(l) {
    for (const std::string& k : run.keys) {
      queues_.push_back(fair_queue(k));
      timeouts_.push_back(fair_timeouts(k));
    }
  }

  task<void> connect(time_point deadline) override {
    co_await lock_session::connect(deadline);
    const request first{};
    co_await clock_.set(client(first), deadline);
  }

 protected:
  task<outcome<reply>> ask(const rlock& what, const request& r, duration wait) override {
    return run_script(take_script, what, r, 3, what.name, queues_[r.key], timeouts_[r.key],
                      milliseconds(r.lease), what.holder, milliseconds(wait), clock_.now_ms());
  }

  task<outcome<reply>> tell(const rlock& what, const request& r, std::string_view,
                            std::string_view latch) override {
    channels_.clear();
    append_channel(channels_, what.name);
    return run_script(give_up_script, what, r, 5, what.name, queues_[r.key], timeouts_[r.key],
                      channels_, latch, unlock_message, milliseconds(r.lease), what.holder,
                      clock_.now_ms(), publish_command(), latch_ms);
  }

  bool was_held(const reply& r) const override {
    return redisson_session::was_held(r) && r.number != 2;
  }

  void append_channel_of(std::string& out, const rlock& what) const override {
    append_channel(out, what.name);
    out.append(":").append(what.holder);
  }

  // Redisson waits for the answer; but the deadline may be here, and nothing depends on it.
  void gave_up_waiting(const rlock& what, const request& r, duration wait) override {
    client(r, what.place)
        .post("EVAL", run_.scripts[first_own_script].text, 2, queues_[r.key], timeouts_[r.key],
              what.holder, milliseconds(wait));
  }

 private:
  wall_clock clock_;
  std::vector<std::string> queues_;  // by request::key
  std::vector<std::string> timeouts_;
  std::string channels_;
};

std::vector<std::string> queue_beside(const std::string& lock, const option_values&) {
  return {fair_queue(lock), fair_timeouts(lock)};
}

constexpr recipe fair_recipe{
    .make_session = make_session<fair_session>,
    .scripts = {take_fair_lua, give_up_fair_lua, redisson_extend_lua, leave_queue_lua},
    .connections_beside = 1,
    .watchdog_batch = redisson_batch,
    .beside = queue_beside};

}  // namespace

lock_kind redisson_fair() {
  return {
      .name = "redis/redisson_fair",
      .summary = "Redisson's fair lock: RLock with a queue; a dead waiter delays those behind it",
      .has = feature::lease | feature::renewable | feature::server_wait | feature::reentrant |
             feature::fair,
      .promises = safety::best_effort,
      .topologies = one_deployment,
      .algorithm =
          "Redisson 3.52 to 4.7, RedissonFairLock; the clock is the server's at the "
          "session's start",
      .cost = {3, 2},
      .options = redisson_options(),
      .make = make_driver_of<fair_recipe>,
  };
}

}  // namespace lockmark::redis
