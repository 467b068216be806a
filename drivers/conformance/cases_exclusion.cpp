#include <fmt/format.h>

#include "drivers/conformance/cases.hpp"

namespace lockmark::conformance::cases {
namespace {

// Joins the queue after a delay, and records when it is served.
task<void> stand_in_line(party who, std::uint32_t place, duration after,
                         std::vector<std::uint32_t>& served) {
  co_await who.on->l().sleep_for(after);
  co_await who.take(after + 3 * patience);
  served.push_back(place);
  co_await who.give_up();
}

task<void> take_and_stamp(party who, time_point& at) {
  co_await who.take();
  at = who.on->l().now();
}

}  // namespace

task<void> give_up_later(party who, duration later, time_point& at) {
  co_await who.on->l().sleep_for(later);
  at = who.on->l().now();
  co_await who.give_up();
}

void judge(const stage& s, const damage& d, const hammering& how) {
  EXPECT_EQ(d.overlaps, 0U) << "more held one key than may";
  EXPECT_EQ(d.lost_holds, 0U) << "a holder was told that it was none";
  EXPECT_EQ(d.doubts, 0U);
  // With several holders, grants may become known in another order than they were made in.
  if (s.has(feature::fencing_token) && how.holders == 1) {
    EXPECT_EQ(d.tokens_fell, 0U) << "a token did not grow";
  }
  EXPECT_GE(d.granted, how.cycles) << "within the limit";
}

void judge(const stage& s, const hammering& how, const std::function<damage()>& load) {
  const auto held = [&s] { return s.about().elections ? s.about().elections() : 0; };
  constexpr int tries = 5;
  for (int tried = 1; tried < tries; ++tried) {
    const std::uint64_t before = held();
    const damage d = load();
    if (d.doubts == 0 || held() == before) return judge(s, d, how);
    EXPECT_EQ(d.overlaps, 0U) << "more held one key than may, in an election";
  }
  judge(s, load(), how);
}

// A holds, B of another instance is kept out; then B holds and A is kept out.
task<void> exclusion(stage& s) {
  const party a = co_await s.join();
  const party b = co_await s.join_rival();
  co_await a.take();
  co_await b.is_kept_out();
  co_await a.give_up();
  co_await b.take();
  co_await a.is_kept_out();
  co_await b.give_up();
}

// Clients of one instance are different owners.
task<void> exclusion_within_an_instance(stage& s) {
  co_await s.crowd(0);
  const party a = co_await s.join();
  const party b = a.other_client(1);
  co_await a.take();
  co_await b.is_kept_out();
  co_await a.give_up();
  co_await b.take();
  co_await b.give_up();
}

// B waits while A holds, and gets the key soon after A's release, not before.
task<void> hand_over(stage& s) {
  const party a = co_await s.join();
  const party b = co_await s.join_rival();
  for (int round = 0; round < 3; ++round) {
    co_await a.take();
    time_point taken_at{};
    time_point given_up_at{};
    auto waiting = take_and_stamp(b, taken_at);
    auto releasing = give_up_later(a, 60ms, given_up_at);
    co_await together(s.l(), std::move(waiting), std::move(releasing));
    EXPECT_GE(taken_at, given_up_at) << "B got it while A held it";
    EXPECT_LE(taken_at - given_up_at, s.about().tolerance) << "the hand-over took too long";
    co_await b.give_up();
  }
}

// Eight owners hold eight keys at once, and one owner acquires many keys in turn.
task<void> keys_are_independent(stage& s) {
  const party first = co_await s.join();
  const party second = co_await s.join();
  for (std::uint32_t c = 0; c < clients_per_session; ++c) {
    co_await first.other_client(c).take(patience, c);
    co_await second.other_client(c).take(patience, clients_per_session + c);
  }
  for (std::uint32_t c = 0; c < clients_per_session; ++c) {
    co_await first.other_client(c).give_up(c);
    co_await second.other_client(c).give_up(clients_per_session + c);
  }
  for (std::uint32_t key = 0; key < keys_per_run; ++key) {
    co_await first.take(patience, key);
    co_await first.give_up(key);
  }
}

// Only the owner's release counts. For a lock known not to check, the defect is asserted.
task<void> release_by_a_stranger(stage& s) {
  const party a = co_await s.join();
  const party b = co_await s.join();
  co_await a.take();
  const auto stolen = co_await b.release(patience);
  const auto within = co_await a.other_client(1).release(patience);
  const party rival = co_await s.join_rival();
  if (!s.about().release_checks_owner) {
    EXPECT_TRUE(stolen.done()) << "the documented defect is gone: " << say(stolen);
    co_await rival.take();
    co_await rival.give_up();
    co_return;
  }
  EXPECT_TRUE(stolen.refused(refusal::not_owner)) << say(stolen);
  EXPECT_TRUE(within.refused(refusal::not_owner)) << say(within);
  co_await rival.is_kept_out();
  co_await a.give_up();
}

// A release of a key never held, or no longer held, is refused and harmless.
task<void> release_of_a_free_key(stage& s) {
  const party a = co_await s.join();
  const auto never_held = co_await a.release(patience);
  EXPECT_TRUE(never_held.refused(refusal::not_owner)) << say(never_held);
  co_await a.take();
  co_await a.give_up();
  const auto again = co_await a.release(patience);
  EXPECT_TRUE(again.refused(refusal::not_owner)) << say(again);
}

// A waiter that timed out leaves nothing in the queue that could be served in its place.
task<void> wait_timeout_is_kept(stage& s) {
  const party a = co_await s.join();
  const party b = co_await s.join_rival();
  const party c = co_await s.join();
  co_await a.take();
  co_await b.is_kept_out(0, 200ms);
  co_await b.is_kept_out(0, 1ms);
  co_await a.give_up();
  co_await c.take(s.about().tolerance);
  co_await c.give_up();
}

// A polling lock answers at once, however distant its deadline is.
task<void> tries_once(stage& s) {
  const party a = co_await s.join_rival();
  const party b = co_await s.join();
  co_await a.take();
  const time_point start = s.l().now();
  const auto got = co_await b.acquire(1h);
  EXPECT_TRUE(got.refused(refusal::busy)) << say(got);
  EXPECT_LE(s.l().now() - start, s.about().tolerance);
  co_await a.give_up();
}

// The order in which clients of two sessions, arriving one after the other, got the key.
task<std::vector<std::uint32_t>> served_in_turn(stage& s, party holder, party left, party right,
                                                std::uint32_t waiters, duration apart) {
  co_await holder.take();
  std::vector<std::uint32_t> served;
  time_point given_up_at{};
  scope everybody{s.l()};
  for (std::uint32_t place = 0; place < waiters; ++place) {
    const party& side = place % 2 == 0 ? left : right;
    everybody.spawn(stand_in_line(side.other_client(place / 2), place, place * apart, served));
  }
  everybody.spawn(give_up_later(holder, (waiters + 1) * apart, given_up_at));
  co_await everybody.join();
  co_return served;
}

// Waiters are served in order of arrival. A stalled server may swap two of them, less likely the
// further apart they arrive; an unfair lock is out of order every time.
task<void> waiters_are_served_in_order(stage& s) {
  co_await s.crowd(0);
  const party holder = co_await s.join();
  const party left = co_await s.join();
  const party right = co_await s.join();
  const std::vector<std::uint32_t> in_order{0, 1, 2, 3, 4, 5, 6, 7};
  static_assert(2 * clients_per_session == 8);
  std::vector<std::uint32_t> served;
  for (duration apart = 60ms; apart < 2s && served != in_order; apart *= 3) {
    served = co_await served_in_turn(s, holder, left, right, 2 * clients_per_session, apart);
  }
  EXPECT_EQ(served, in_order);
}

// Three levels are held until the third release; a fourth is refused.
task<void> reentrancy(stage& s) {
  const party a = co_await s.join();
  const party b = co_await s.join_rival();
  for (int level = 0; level < 3; ++level) co_await a.take();
  if (!s.has(feature::shared)) co_await a.other_client(1).is_kept_out();
  co_await b.is_kept_out();
  for (int level = 0; level < 2; ++level) {
    co_await a.give_up();
    co_await b.is_kept_out(0, 20ms);
  }
  co_await a.give_up();
  co_await b.take();
  const auto fourth = co_await a.release(patience);
  EXPECT_TRUE(fourth.refused(refusal::not_owner)) << say(fourth);
  co_await b.give_up();
}

// The owner is kept out of its own key like any other client, and one release frees it.
task<void> no_reentrancy(stage& s) {
  const party a = co_await s.join();
  const party b = co_await s.join();
  co_await a.take();
  co_await a.is_kept_out();
  co_await a.give_up();
  co_await b.take();
  co_await b.give_up();
}

// Each grant of a key carries a greater token than the one before.
task<void> tokens_grow(stage& s) {
  const party a = co_await s.join();
  const party b = co_await s.join();
  std::uint64_t last = 0;
  for (int round = 0; round < 6; ++round) {
    const party& who = round % 2 == 0 ? a : b;
    const grant got = co_await who.take();
    EXPECT_GT(got.token, last) << "in round " << round;
    last = got.token;
    co_await who.give_up();
  }
}

// Eight clients contend for one key; there are never more holders than allowed.
task<void> hammered(stage& s) {
  const hammering how{.holders = s.holders()};
  judge(s, how, [&] { return hammer(s.direct(), s.about().kind, how); });
  co_return;
}

// The same from two threads, each with its own loop, on two keys.
task<void> hammered_by_two_threads(stage& s) {
  const hammering how{.threads = 2, .sessions = 1, .keys = 2, .holders = s.holders()};
  judge(s, how, [&] { return hammer(s.direct(), s.about().kind, how); });
  co_return;
}

}  // namespace lockmark::conformance::cases
