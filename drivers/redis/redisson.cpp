// redis/redisson: Redisson's RLock (3.52 to 4.7) as it is on the wire, so that real Redisson
// clients and these exclude and wake each other.
//
// The lock is a hash with one field per holder, "<instance id>:<client>", that counts its
// re-entries. Who finds it held subscribes to the lock's channel, one subscription per instance,
// and asks again when the holder's release is announced there or the holder's lease has run out.
// A release leaves its answer for a while under a name of its own (the latch), and deletes it by a
// second command. No fencing token: best effort.
#include <random>

#include "drivers/redis/lock_driver.hpp"
#include "drivers/redis/redis.hpp"
#include "drivers/redis/redisson_names.hpp"
#include "drivers/redis/subscription.hpp"

namespace lockmark::redis {
namespace {

enum scripts : std::size_t { take, give_up, extend };

// KEYS: lock. ARGV: lease in ms, owner. nil: taken; else how long the holder's lease still lasts.
constexpr std::string_view take_lua = R"(
local held = redis.call('EXISTS', KEYS[1]) == 1
if held and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return redis.call('PTTL', KEYS[1])
end
redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return nil
)";

// KEYS: lock, channel, latch. ARGV: message, lease in ms, owner, publishing command, latch in ms.
// nil: not the owner's; 1: free now; 0: the owner still holds it.
constexpr std::string_view give_up_lua = R"(
local answered = redis.call('GET', KEYS[3])
if answered then return tonumber(answered) end
if redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then return nil end
local still = redis.call('HINCRBY', KEYS[1], ARGV[3], -1) > 0
if still then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  redis.call('SET', KEYS[3], 0, 'PX', ARGV[5])
  return 0
end
redis.call('DEL', KEYS[1])
redis.call(ARGV[4], KEYS[2], ARGV[1])
redis.call('SET', KEYS[3], 1, 'PX', ARGV[5])
return 1
)";

// The watchdog's. KEYS: locks. ARGV: lease in ms, then each lock's owner. 1 each: extended.
constexpr std::string_view extend_lua = R"(
local extended = {}
for i, lock in ipairs(KEYS) do
  extended[i] = redis.call('HEXISTS', lock, ARGV[i + 1])
  if extended[i] == 1 then redis.call('PEXPIRE', lock, ARGV[1]) end
end
return extended
)";

constexpr int unlock_message = 0;  // wakes one waiter of each instance
// Redisson: (timeout 3 s + delay between retries, 1 to 2 s) * 4 retries.
constexpr int latch_ms = 18'000;
constexpr duration settle_limit = std::chrono::milliseconds{500};

class redisson_session final : public lock_session {
 public:
  redisson_session(loop& l, run_data& run, const instance& who)
      : lock_session(l, run, who), messages_(l, servers_of(0), sent_), latches_(who.clients) {
    std::random_device seed;
    random_.seed((std::uint64_t{seed()} << 32) ^ seed());
  }

  // Ask; if it is held: subscribe, ask again, and from then on wait and ask.
  task<outcome<grant>> acquire(request r) override {
    std::optional<subscription::place> place;
    while (true) {
      const grant g{.valid_until = end_of(r.lease)};
      const auto said = co_await client(r).evaluate(r.answer_by(), run_.scripts[take], 1, key(r),
                                                    milliseconds(r.lease), owner(r));
      if (!said.done()) co_return undone<grant>(r, said);
      if (said.value().is(reply::kind::nil)) co_return g;
      if (!place) {
        scratch_.clear();
        append_channel(scratch_, key(r));
        place.emplace(messages_, scratch_);
      }
      if (!place->confirmed()) {
        const bool confirmed = co_await place->confirm(r.deadline);
        if (!confirmed) co_return in_time(r) ? refusal::unavailable : refusal::deadline;
        continue;
      }
      const bool woken = co_await place->wait(until_worth_asking(said.value().number, r));
      if (in_time(r)) continue;
      if (woken) place->hand_on();
      co_return refusal::deadline;
    }
  }

  task<outcome<grant>> renew(request r) override {
    const grant g{.valid_until = end_of(r.lease)};
    const auto said = co_await client(r).evaluate(r.answer_by(), run_.scripts[extend], 1, key(r),
                                                  milliseconds(r.lease), owner(r));
    if (!said.done()) co_return undone<grant>(r, said);
    const auto& extended = said.value().parts;
    if (extended.empty() || extended[0].number != 1) co_return refusal::not_owner;
    co_return g;
  }

  // Like Redisson, does not wait for the answer to DEL.
  task<outcome<nothing>> release(request r) override {
    std::string& latch = latches_[r.client];
    latch.clear();
    append_latch(latch, key(r), new_request_id());
    scratch_.clear();
    append_channel(scratch_, key(r));
    const auto said = co_await client(r).evaluate(
        r.answer_by(), run_.scripts[give_up], 3, key(r), scratch_, latch, unlock_message,
        milliseconds(r.lease), owner(r), publish_command(), latch_ms);
    if (!said.done()) co_return undone<nothing>(r, said);
    client(r).post("DEL", latch);
    if (said.value().is(reply::kind::nil)) co_return refusal::not_owner;
    co_return nothing{};
  }

  // What a lost answer may have left is deleted now, or by the driver's wipe.
  task<void> close() override {
    co_await messages_.close();
    const time_point limit = loop_.now() + settle_limit;
    for (std::uint32_t i = 0; i < latches_.size(); ++i) {
      const bool settled = co_await client({.client = i}).settle(limit);
      if (!settled) left_.push_back(latches_[i]);
    }
    for (std::string& latch : left_) {
      const auto said = co_await client({}).command(limit, "DEL", latch);
      if (!said.done()) run_.left.add(std::move(latch));
    }
    co_await lock_session::close();
  }

 private:
  bool in_time(const request& r) const { return loop_.now() < r.deadline; }

  // PTTL is negative for a lock that never expires.
  time_point until_worth_asking(std::int64_t pttl_ms, const request& r) const {
    if (pttl_ms < 0) return r.deadline;
    return std::min(r.deadline, loop_.now() + std::chrono::milliseconds{pttl_ms});
  }

  // The DEL of the client's last latch may have been lost with what just failed.
  template <class T>
  outcome<T> undone(const request& r, const outcome<reply>& said) {
    if (!latches_[r.client].empty()) left_.push_back(std::exchange(latches_[r.client], {}));
    return said.without_value<T>();
  }

  // 32 hexadecimal digits, until the next call.
  std::string_view new_request_id() {
    constexpr char digits[] = "0123456789abcdef";
    for (std::size_t i = 0; i < request_id_.size();) {
      for (std::uint64_t bits = random_(), n = 0; n < 16; ++n, bits >>= 4) {
        request_id_[i++] = digits[bits & 15];
      }
    }
    return {request_id_.data(), request_id_.size()};
  }

  subscription messages_;
  std::vector<std::string> latches_;  // the last of each client
  std::vector<std::string> left_;     // latches that may still be there
  std::mt19937_64 random_;
  std::array<char, 32> request_id_;
  std::string scratch_;
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
      .options = {},
      .make =
          [](const driver_setup& s) {
            return make_driver(
                s, {{take_lua, give_up_lua, extend_lua}, make_session<redisson_session>});
          },
  };
}

}  // namespace lockmark::redis
