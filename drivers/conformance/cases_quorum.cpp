// Locks granted by a majority of independent servers: the permitted effects of losing some of them.
//
// Leases are long here: a client told that the key was certainly not taken must not turn out right
// only because a lease expired meanwhile.
#include "drivers/conformance/cases.hpp"

namespace lockmark::conformance::cases {
namespace {

std::size_t minority(stage& s) {
  return (s.network().hosts() - 1) / 2;
}

void set_first(stage& s, std::size_t servers, proxy_mode m) {
  for (std::size_t n = 0; n < servers; ++n) s.network().set_host(n, m);
}

// A has used its connections before, and its leases are long.
task<party> join_warm(stage& s) {
  party a = co_await warm_party(s);
  a.lease = long_lease;
  co_return a;
}

// Once A has settled a possible hold, B gets the key soon.
task<void> settle_and_hand_over(stage& s, party a, party b) {
  s.network().set(proxy_mode::pass);
  const auto gone = co_await settle(a);
  EXPECT_TRUE(gone.done() || gone.refused(refusal::not_owner)) << say(gone);
  co_await b.take(s.about().tolerance);
  co_await b.give_up();
}

}  // namespace

// Losing a minority of the servers changes nothing.
task<void> a_minority_may_be_missing(stage& s) {
  const party a = co_await join_warm(s);
  const party b = co_await s.join();
  set_first(s, minority(s), proxy_mode::cut);
  co_await a.take();
  co_await b.is_kept_out();
  if (s.has(feature::renewable)) {
    const auto more = co_await a.renew(patience);
    EXPECT_TRUE(more.done()) << say(more);
  }
  co_await a.give_up();
  co_await b.take(s.about().tolerance);
  co_await a.is_kept_out();
  co_await b.give_up();
}

// Without a majority nothing is granted and nothing released; and unfinished calls can be settled.
task<void> a_missing_majority_grants_nothing(stage& s) {
  const party a = co_await join_warm(s);
  const party b = co_await s.join();
  set_first(s, minority(s) + 1, proxy_mode::cut);
  const time_point start = s.l().now();
  const auto got = co_await a.acquire(soon);
  EXPECT_LE(s.l().now() - start, soon + s.about().tolerance);
  expect_unanswered(got, "acquire");
  if (got.refused()) {
    co_await b.take(s.about().tolerance);
    co_await b.give_up();
  }
  co_await settle_and_hand_over(s, a, b);
  co_await a.take();
  set_first(s, minority(s) + 1, proxy_mode::cut);
  const auto gone = co_await a.release(soon);
  expect_unanswered(gone, "release");
  co_await settle_and_hand_over(s, a, b);
}

// A minority receives A's request but cannot reply: the others are enough, and the leftovers on the
// minority do not keep B out.
task<void> lost_replies_of_a_minority(stage& s) {
  const party a = co_await join_warm(s);
  const party b = co_await s.join();
  set_first(s, minority(s), proxy_mode::drop_replies);
  const auto got = co_await a.acquire(patience);
  EXPECT_TRUE(got.done()) << say(got);
  co_await b.is_kept_out();
  const auto gone = co_await a.release(patience);
  EXPECT_TRUE(gone.done()) << say(gone);
  co_await b.take(s.about().tolerance);
  co_await b.give_up();
}

// A majority receives A's request but cannot reply: A may have the key. A refusal would only be
// true if B could have it now.
task<void> lost_replies_of_a_majority(stage& s) {
  const party a = co_await join_warm(s);
  const party b = co_await s.join();
  set_first(s, minority(s) + 1, proxy_mode::drop_replies);
  const auto got = co_await a.acquire(soon);
  expect_unanswered(got, "acquire");
  if (got.refused()) {
    co_await b.take(s.about().tolerance);
    co_await b.give_up();
  }
  co_await settle_and_hand_over(s, a, b);
}

}  // namespace lockmark::conformance::cases
