#include <fmt/format.h>

#include "drivers/conformance/cases.hpp"

namespace lockmark::conformance::cases {
namespace {

constexpr duration longest_close = 5s;  // close() has no deadline of its own
constexpr std::string_view secret = "pa55w0rd";
constexpr duration late_grace = 1s;

// `call` throws no_server in time, with a sentence for the user.
task<void> expect_no_server(stage& s, std::string what, task<void> call) {
  const time_point start = s.l().now();
  bool thrown = false;
  try {
    co_await std::move(call);
  } catch (const no_server& e) {
    thrown = true;
    const std::string sentence = e.what();
    EXPECT_TRUE(s.network().is_named_in(sentence)) << what << " names no server: " << sentence;
    EXPECT_EQ(sentence.find(secret), std::string::npos) << "the password is in: " << sentence;
  }
  EXPECT_TRUE(thrown) << what << " should have thrown no_server";
  EXPECT_LE(s.l().now() - start, soon + s.about().tolerance) << what << " outlasted its deadline";
}

task<void> acquire_with_grace(party who, duration grace, outcome<grant>& got) {
  got = co_await who.acquire(soon, 0, grace);
}

task<void> come_back_after(stage& s, duration pause) {
  co_await s.l().sleep_for(pause);
  s.network().set(proxy_mode::pass);
}

task<void> prepare_soon(stage& s, driver& d) {
  co_await d.prepare(s.l(), s.in(soon));
}

task<void> wipe_soon(stage& s, driver& d) {
  co_await d.wipe(s.l(), s.in(soon));
}

task<void> open_soon(stage& s, driver& d) {
  instance who{"silent", 99, 1, s.about().session_timeout};
  const auto opened = co_await d.open(s.l(), std::move(who), s.in(soon));
  co_await opened->close();
}

}  // namespace

void lose_replies(stage& s) {
  if (!s.about().quorum) return s.network().set(proxy_mode::drop_replies);
  for (std::size_t n = 0; n < s.network().hosts(); ++n) {
    s.network().set_host(n, proxy_mode::drop_replies);
  }
}

task<party> warm_party(stage& s) {
  const party a = co_await s.join_through_proxy();
  co_await a.take();
  co_await a.give_up();
  // A lock may not wait for the last reply to a release, but that comes before the reply to this.
  if (a.has(feature::renewable)) co_await a.renew(patience);
  co_return a.with_short_lease();
}

task<outcome<nothing>> settle(party who) {
  const time_point end = who.on->in(patience);
  while (true) {
    const auto gone = co_await who.release(1s);
    const bool settled = gone.done() || gone.refused(refusal::not_owner);
    if (settled || who.on->l().now() >= end) co_return gone;
    co_await who.on->l().sleep_for(20ms);
  }
}

// The server receives the acquire, but its reply is lost: A reports doubt. Then A settles it by a
// release, and nobody is locked out for longer than the lock promises. The lease is long: if A
// reports that the key was certainly not taken, B can have it without waiting for the lease to
// expire.
task<void> lost_reply_to_acquire(stage& s) {
  party a = co_await warm_party(s);
  a.lease = long_lease;
  const party b = co_await s.join_rival();
  lose_replies(s);
  const time_point start = s.l().now();
  const auto got = co_await a.acquire(soon);
  EXPECT_LE(s.l().now() - start, soon + s.about().tolerance);
  expect_unanswered(got, "acquire");
  if (s.about().first_request_takes) {
    EXPECT_TRUE(got.in_doubt()) << say(got);
  }
  if (got.refused()) co_await b.take(s.about().tolerance);
  if (got.refused()) co_await b.give_up();
  s.network().set(proxy_mode::pass);
  const auto gone = co_await settle(a);
  EXPECT_TRUE(gone.done() || gone.refused(refusal::not_owner)) << say(gone);
  co_await b.take(gone.done() ? s.about().tolerance : s.until_freed());
  co_await b.give_up();
}

// The server frees the key, but its reply is lost: in doubt, and B gets the key.
task<void> lost_reply_to_release(stage& s) {
  const party a = co_await warm_party(s);
  const party b = co_await s.join_rival();
  co_await a.take();
  lose_replies(s);
  const auto gone = co_await a.release(soon);
  EXPECT_TRUE(gone.in_doubt()) << say(gone);
  co_await b.take(s.until_freed());
  co_await b.give_up();
}

// The server frees the holds of a vanished session; by then the session knows that it is not alive,
// and it does not claim the key again.
task<void> lost_connection_frees(stage& s) {
  const party a = co_await warm_party(s);
  const party b = co_await s.join_rival();
  co_await a.take();
  s.network().set(proxy_mode::cut);
  co_await b.take(s.until_freed());
  const auto late = co_await a.release(soon);
  EXPECT_FALSE(late.done()) << "A released what B holds";
  EXPECT_FALSE(a.in->alive()) << "what A held is B's";
  s.network().set(proxy_mode::pass);
  const auto settled = co_await settle(a);
  EXPECT_TRUE(settled.refused(refusal::not_owner)) << say(settled);
  // Connects in peace: of several servers, each gets a share of an attempt's time, and a client
  // that went on to the next one would not be kept out by a lock that lives in one server.
  co_await a.take(patience, 1);
  co_await a.give_up(1);
  co_await a.is_kept_out();
  co_await b.give_up();
}

// After a cut, calls end as unavailable or in doubt, and work again once the server is back.
task<void> connects_again(stage& s) {
  const party a = co_await warm_party(s);
  s.network().set(proxy_mode::cut);
  for (int n = 0; n < 3; ++n) {
    const time_point start = s.l().now();
    const auto got = co_await a.acquire(soon);
    EXPECT_LE(s.l().now() - start, soon + s.about().tolerance);
    expect_unanswered(got, "acquire");
  }
  s.network().set(proxy_mode::pass);
  co_await settle(a);  // the first of the three may be in doubt
  const time_point end = s.in(s.about().session_timeout + patience);
  auto got = co_await a.acquire(1s);
  while (!got.done() && s.l().now() < end) {
    co_await s.l().sleep_for(20ms);
    got = co_await a.acquire(1s);
  }
  EXPECT_TRUE(got.done()) << say(got);
  EXPECT_TRUE(a.in->alive());
  EXPECT_GE(a.in->sent().reconnects, 1U);
  co_await settle(a);
}

// The server is away, and comes back between A's deadline and the end of its grace. By then it is
// too late for A to begin anything: a connection that took so long is not used for the attempt. The
// lease is long, so that B would notice a grant.
task<void> nothing_begins_after_the_deadline(stage& s) {
  party a = co_await warm_party(s);
  a.lease = long_lease;
  const party b = co_await s.join_rival();
  s.network().set(proxy_mode::cut);
  co_await a.acquire(soon);  // notices that the connection is gone
  s.network().set(proxy_mode::hold);
  outcome<grant> got = doubt::connection_lost;
  auto attempt = acquire_with_grace(a, late_grace, got);
  auto coming_back = come_back_after(s, soon + late_grace / 4);
  co_await together(s.l(), std::move(attempt), std::move(coming_back));
  EXPECT_TRUE(got.refused()) << "began after its deadline: " << say(got);
  co_await s.l().sleep_for(late_grace / 4);
  co_await b.take(s.about().tolerance);
  co_await b.give_up();
}

// The server accepts bytes and never answers: every call ends by its deadline, and close ends too.
task<void> deadlines_on_a_silent_server(stage& s) {
  const party a = co_await warm_party(s);
  const duration limit = soon + s.about().tolerance;
  co_await a.take();
  s.network().set(proxy_mode::silent);
  time_point start = s.l().now();
  const auto got = co_await a.other_client(1).acquire(soon, 1);
  EXPECT_LE(s.l().now() - start, limit) << "acquire";
  expect_unanswered(got, "acquire");
  start = s.l().now();
  const auto again = co_await a.other_client(1).acquire(soon, 2);  // possibly over a new connection
  EXPECT_LE(s.l().now() - start, limit) << "a second acquire";
  expect_unanswered(again, "a second acquire");
  if (s.has(feature::renewable)) {
    start = s.l().now();
    const auto more = co_await a.renew(soon);
    EXPECT_LE(s.l().now() - start, limit) << "renew";
    EXPECT_FALSE(more.done()) << "renewed by nobody";
  }
  start = s.l().now();
  const auto gone = co_await a.release(soon);
  EXPECT_LE(s.l().now() - start, limit) << "release";
  EXPECT_FALSE(gone.done()) << "released by nobody";
  start = s.l().now();
  co_await s.leave(a.in);
  EXPECT_LE(s.l().now() - start, longest_close) << "close";
  co_await s.l().sleep_for(s.has(feature::session_bound) ? s.about().session_timeout : 0ms);
}

// On a silent server prepare, open and wipe end the run with a sentence, by their deadline.
task<void> no_silent_server(stage& s) {
  co_await s.proxied().prepare(s.l(), s.in(patience));
  s.network().set(proxy_mode::silent);
  const auto fresh = s.driver_for(s.network().url().to_string());
  auto preparing = prepare_soon(s, *fresh);
  co_await expect_no_server(s, "prepare", std::move(preparing));
  auto opening = open_soon(s, s.proxied());
  co_await expect_no_server(s, "open", std::move(opening));
  auto wiping = wipe_soon(s, s.proxied());
  co_await expect_no_server(s, "wipe", std::move(wiping));
}

// Without a listener prepare() fails with a sentence that names the address but not the password.
task<void> unreachable_server(stage& s) {
  s.network().set(proxy_mode::cut);
  url_parts url = s.network().url();
  if (s.about().url_takes_password) url.userinfo = fmt::format("somebody:{}@", secret);
  const auto nowhere = s.driver_for(url.to_string());
  auto preparing = prepare_soon(s, *nowhere);
  co_await expect_no_server(s, "prepare", std::move(preparing));
}

}  // namespace lockmark::conformance::cases
