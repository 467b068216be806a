#include "drivers/conformance/cases.hpp"

namespace lockmark::conformance::cases {
namespace {

task<std::uint64_t> commits_seen(stage& s, std::uint32_t key = 0) {
  const auto all = co_await s.direct().commits(s.l(), s.in(patience));
  co_return all.at(key);
}

// Every acknowledged commit is present, and no other.
task<void> hammer_and_count(stage& s, hammering how) {
  const damage d = hammer(s.direct(), s.about().kind, how);
  EXPECT_GE(d.granted, how.cycles) << "within the limit";
  EXPECT_EQ(d.lost_holds, 0U);
  std::uint64_t seen = 0;
  for (std::uint32_t key = 0; key < how.keys; ++key) seen += co_await commits_seen(s, key);
  EXPECT_GE(seen, d.granted) << "lost updates";
  EXPECT_LE(seen, d.granted + d.doubts);
}

}  // namespace

// A and B read, B commits: A's commit is refused; A reads again, and can commit.
task<void> conflict_is_detected(stage& s) {
  const party a = co_await s.join();
  const party b = co_await s.join();
  const grant by_a = co_await a.take();
  const grant by_b = co_await b.take();
  EXPECT_EQ(by_a.token, by_b.token) << "both read the same version";
  co_await b.give_up();
  const auto late = co_await a.release(patience);
  EXPECT_TRUE(late.refused(refusal::conflict)) << say(late);
  const grant again = co_await a.take();
  EXPECT_GT(again.token, by_a.token);
  co_await a.give_up();
  EXPECT_EQ(co_await commits_seen(s), 2U);
  EXPECT_EQ(co_await commits_seen(s, 1), 0U);
}

// A client that has read nothing cannot commit.
task<void> commit_without_reading(stage& s) {
  const party a = co_await s.join();
  const auto gone = co_await a.release(patience);
  EXPECT_TRUE(gone.refused(refusal::not_owner) || gone.refused(refusal::conflict)) << say(gone);
  EXPECT_EQ(co_await commits_seen(s), 0U);
}

// Each read allows one commit.
task<void> commits_once_per_reading(stage& s) {
  const party a = co_await s.join();
  co_await a.take();
  co_await a.give_up();
  const auto again = co_await a.release(patience);
  EXPECT_TRUE(again.refused(refusal::not_owner) || again.refused(refusal::conflict)) << say(again);
  EXPECT_EQ(co_await commits_seen(s), 1U);
}

task<void> commits_are_counted(stage& s) {
  co_await hammer_and_count(s, hammering{});
}

task<void> commits_are_counted_for_two_threads(stage& s) {
  co_await hammer_and_count(s, hammering{.threads = 2, .sessions = 1, .keys = 2});
}

// The server commits, but its reply is lost: in doubt, and the server has the commit.
task<void> lost_reply_to_commit(stage& s) {
  const party a = co_await s.join_through_proxy();
  co_await a.take();
  co_await a.give_up();
  co_await a.take();
  s.network().set(proxy_mode::drop_replies);
  const auto gone = co_await a.release(300ms);
  EXPECT_TRUE(gone.in_doubt()) << say(gone);
  const std::uint64_t seen = co_await commits_seen(s);
  EXPECT_GE(seen, 1U);
  EXPECT_LE(seen, 2U);
}

}  // namespace lockmark::conformance::cases
