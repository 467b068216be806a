#include <algorithm>

#include "drivers/conformance/cases.hpp"

namespace lockmark::conformance::cases {

// A's lease expires: B gets the key then and not before, and A's late release does not take it from
// B. If the lock is known not to check the owner, it does.
task<void> lease_runs_out(stage& s) {
  const party a = (co_await s.join()).with_short_lease();
  const party b = co_await s.join_rival();
  const party c = co_await s.join();
  const grant until = co_await a.take();
  EXPECT_LT(until.valid_until, time_point::max()) << "a lease has an end";
  co_await b.take(s.about().lease + s.about().tolerance);
  EXPECT_GE(s.l().now(), until.valid_until - 5ms) << "B got it while A's grant was valid";
  const auto late = co_await a.release(patience);
  if (!s.about().release_checks_owner) {
    EXPECT_TRUE(late.done()) << "the documented defect is gone: " << say(late);
    co_await c.take(s.about().tolerance);
    co_return;
  }
  EXPECT_TRUE(late.refused(refusal::not_owner)) << say(late);
  co_await c.is_kept_out();
}

// A's lease has expired and nobody took the key: A's release still returns not_owner.
task<void> release_after_the_lease(stage& s) {
  const party a = (co_await s.join()).with_short_lease();
  co_await a.take();
  co_await s.l().sleep_for(s.about().lease + 100ms);
  const auto late = co_await a.release(patience);
  EXPECT_TRUE(late.refused(refusal::not_owner)) << say(late);
}

namespace {

// A renews every third of a lease, for two leases, and B stays locked out. False: this machine
// stalled for longer than a lease, so the key was rightly lost.
task<bool> is_kept_by_renewal(const party& a, const party& b) {
  loop& l = a.on->l();
  grant last = co_await a.take();
  for (int third = 0; third < 6; ++third) {
    co_await l.sleep_for(a.lease / 3);
    const auto more = co_await a.renew(patience);
    if (more.refused(refusal::not_owner) && l.now() >= last.valid_until) co_return false;
    if (!more.done()) throw broken("a holder's renewal ended as: " + say(more));
    EXPECT_GT(more.value().valid_until, last.valid_until);
    last = more.value();
  }
  try {
    co_await b.is_kept_out(0, a.lease / 4);
    co_return true;
  } catch (const broken&) {
    if (l.now() < last.valid_until) throw;
  }
  co_await b.release(patience);
  co_return false;
}

}  // namespace

// With a renewal every third of a lease A keeps the key for two more leases; without, B gets it.
task<void> renewal_keeps_it(stage& s) {
  party a = (co_await s.join()).with_short_lease();
  const party b = co_await s.join_rival();
  while (!co_await is_kept_by_renewal(a, b)) {
    a.lease *= 2;
    if (a.lease > long_lease) throw broken("was lost again and again, whatever the lease");
  }
  if (s.about().renews_itself) {
    co_await a.release(patience);
    co_return;
  }
  co_await b.take(a.lease + s.about().tolerance);
  const auto late = co_await a.renew(patience);
  EXPECT_TRUE(late.refused(refusal::not_owner)) << "renewed what B holds: " << say(late);
}

// A key that is free or held by another client cannot be renewed.
task<void> renewal_by_a_stranger(stage& s) {
  const party a = co_await s.join();
  const party b = co_await s.join();
  const auto free = co_await b.renew(patience);
  EXPECT_TRUE(free.refused(refusal::not_owner)) << say(free);
  co_await a.take();
  const auto held = co_await b.renew(patience);
  EXPECT_TRUE(held.refused(refusal::not_owner)) << say(held);
  co_await a.give_up();
  const auto given_up = co_await a.renew(patience);
  EXPECT_TRUE(given_up.refused(refusal::not_owner)) << say(given_up);
}

// Closing a session frees its keys at once, whichever client held them.
task<void> close_frees(stage& s) {
  const party a = co_await s.join();
  const party b = co_await s.join_rival();
  co_await a.take(patience, 0);
  co_await a.other_client(1).take(patience, 1);
  EXPECT_TRUE(a.in->alive());
  co_await s.leave(a.in);
  co_await b.take(s.about().tolerance, 0);
  co_await b.give_up(0);
  co_await b.take(s.about().tolerance, 1);
  co_await b.give_up(1);
}

// wipe removes a key that its owner never released, a second wipe is harmless, and the run's names
// can be used again.
task<void> wipe_removes_what_was_held(stage& s) {
  const party a = co_await s.join();
  const std::uint32_t owners = std::clamp(s.holders(), 1U, clients_per_session);
  for (std::uint32_t n = 0; n < owners; ++n) co_await a.other_client(n).take(patience, 3);
  co_await a.other_client(1).take(patience, 4);
  co_await s.leave(a.in);
  co_await s.wipe_clean();
  co_await s.wipe_clean();
  co_await s.prepare();
  const party b = co_await s.join_rival();
  co_await b.take(s.about().tolerance, 3);
  co_await b.give_up(3);
}

}  // namespace lockmark::conformance::cases
