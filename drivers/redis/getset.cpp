// redis/getset: SETNX whose value is the time at which the lock ends, by the clients' clocks.
//
// A client that finds the key taken reads that time. If it has passed, it takes over by GETSET, and
// has the lock only if GETSET returns the time that it had read: otherwise somebody was quicker,
// and the loser has moved the winner's end a little. Release is a plain DEL, unless the lock has
// ended by the client's own clock. Everything depends on clocks that agree, and nothing on a lease
// in the server: a delayed DEL deletes the next owner's lock.
#include "drivers/redis/lock_driver.hpp"
#include "drivers/redis/redis.hpp"
#include "drivers/redis/wall_clock.hpp"

namespace lockmark::redis {
namespace {

class getset_session final : public lock_session {
 public:
  getset_session(loop& l, run_data& run, const instance& who)
      : lock_session(l, run, who), clock_(l) {}

  task<void> connect(time_point deadline) override {
    co_await lock_session::connect(deadline);
    const request first{};
    co_await clock_.set(client(first), deadline);
  }

  task<outcome<grant>> acquire(request r) override {
    const grant g{.valid_until = end_of(r.lease)};
    const auto before = mine_.find({r.client, r.key});
    const std::int64_t held_until = before == mine_.end() ? 0 : before->second;
    const std::int64_t until = ending_after(clock_.now_ms(), milliseconds(r.lease));
    mine_[{r.client, r.key}] = until;
    const auto ending = co_await take(r, until, g);
    if (!ending.refused()) co_return ending;
    // It still holds what it held before.
    mine_[{r.client, r.key}] = held_until;
    co_return ending;
  }

  task<outcome<nothing>> release(request r) override {
    const auto at = mine_.find({r.client, r.key});
    if (at == mine_.end() || has_ended(at->second, clock_.now_ms())) co_return refusal::not_owner;
    const auto said = co_await client(r).command(r, "DEL", key(r));
    if (said.done()) mine_.erase({r.client, r.key});
    co_return done_if(said, 1, nothing{}, refusal::not_owner);
  }

 private:
  task<outcome<grant>> take(request r, std::int64_t until, grant g) {
    const auto first = co_await client(r).command(r, "SETNX", key(r), until);
    const auto ending = done_if(first, 1, g, refusal::busy);
    if (!ending.refused(refusal::busy)) co_return ending;
    const auto said = co_await client(r).command(r, "GET", key(r));
    if (said.refused()) co_return said.why_refused();
    if (!said.done()) co_return refusal::unavailable;  // a GET takes nothing
    const std::string read = said.value().text;
    if (!may_take_over(read, clock_.now_ms())) co_return refusal::busy;
    const auto old = co_await client(r).command(r, "GETSET", key(r), until);
    if (!old.done()) co_return old.without_value<grant>();
    if (!took_over(read, old.value())) co_return refusal::busy;
    co_return g;
  }

  wall_clock clock_;
  // The end of a client's hold of a key, by (client, key); 0: it holds nothing.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> mine_;
};

constexpr recipe by_getset{.make_session = make_session<getset_session>};

}  // namespace

lock_kind getset() {
  return {
      .name = "redis/getset",
      .summary = "SETNX of the ending time; take over by GETSET: rests on the clients' clocks",
      .has = feature::lease,
      .promises = safety::none,
      .topologies = one_deployment,
      .algorithm =
          "the GETSET pattern of Redis's SETNX page; the clock is the server's at the "
          "session's start",
      .cost = {2, 2},
      .options = {},
      .make = make_driver_of<by_getset>,
  };
}

}  // namespace lockmark::redis
