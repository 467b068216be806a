#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include "harness/check/exclusion.hpp"
#include "harness/check/handoff.hpp"
#include "harness/check/history.hpp"
#include "harness/check/lost_update.hpp"
#include "harness/check/merge.hpp"
#include "harness/check/token_order.hpp"

namespace lockmark::check {
namespace {

using enum event_kind;

// One operation of a history, as in Wing and Gong: it takes effect between the two instants.
struct operation {
  bool acquire;
  std::uint32_t client;
  std::int64_t invoked_ns, answered_ns;
};

// Whether some order of effects, each inside its interval, makes the history that of a mutex. Tries
// all of them: the oracle for the sweep.
bool linearizable(const std::vector<operation>& ops, unsigned done, int holder) {
  if (done == (1U << ops.size()) - 1) return true;
  std::int64_t first_answer_ns = INT64_MAX;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if ((done >> i & 1) == 0) first_answer_ns = std::min(first_answer_ns, ops[i].answered_ns);
  }
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const operation& op = ops[i];
    if ((done >> i & 1) != 0 || op.invoked_ns > first_answer_ns) continue;
    const int me = static_cast<int>(op.client);
    if (holder != (op.acquire ? -1 : me)) continue;
    if (linearizable(ops, done | 1U << i, op.acquire ? me : -1)) return true;
  }
  return false;
}

// Up to four clients, each acquiring and releasing up to twice, at distinct random instants.
std::vector<operation> random_history(std::mt19937& rng) {
  const auto clients = static_cast<std::uint32_t>(2 + rng() % 3);
  std::vector<std::int64_t> instants(64);
  for (std::size_t i = 0; i < instants.size(); ++i) instants[i] = static_cast<std::int64_t>(i + 1);
  std::shuffle(instants.begin(), instants.end(), rng);
  std::vector<operation> ops;
  std::size_t next = 0;
  for (std::uint32_t c = 0; c < clients; ++c) {
    const std::size_t cycles = clients > 2 ? 1 : 1 + rng() % 2;
    std::vector<std::int64_t> mine(
        instants.begin() + static_cast<std::ptrdiff_t>(next),
        instants.begin() + static_cast<std::ptrdiff_t>(next + 4 * cycles));
    next += 4 * cycles;
    std::sort(mine.begin(), mine.end());
    for (std::size_t i = 0; i < mine.size(); i += 2) {
      ops.push_back({i % 4 == 0, c, mine[i], mine[i + 1]});
    }
  }
  return ops;
}

exclusion sweep(const std::vector<operation>& ops) {
  std::vector<event> events;
  for (const operation& op : ops) {
    events.push_back({op.acquire ? op.answered_ns : op.invoked_ns, 0, 0, op.client,
                      op.acquire ? granted : released});
  }
  std::sort(events.begin(), events.end(), before);
  exclusion found(1);
  for (const event& e : events) e.kind == granted ? found.granted(e) : found.released(e);
  found.finish(1000);
  return found;
}

// Readers overlap each other as they like, and a writer nobody.
TEST(exclusion_check, keeps_writers_from_readers_and_readers_from_writers) {
  const auto violations = [](bool first_reads, bool second_reads) {
    exclusion judge(1);
    judge.granted({10, 0, 0, 0, granted, false, first_reads});
    judge.granted({20, 0, 0, 1, granted, false, second_reads});
    judge.released({30, 0, 0, 0, released, true, first_reads});
    judge.released({40, 0, 0, 1, released, true, second_reads});
    judge.finish(50);
    return judge.certain();
  };
  EXPECT_EQ(violations(true, true), 0U);
  EXPECT_EQ(violations(true, false), 1U);
  EXPECT_EQ(violations(false, true), 1U);
  EXPECT_EQ(violations(false, false), 1U);
}

// Who has promised to stop by then was no holder any more, whenever its release comes.
TEST(exclusion_check, a_hold_ends_when_its_client_promised) {
  const auto violations = [](std::vector<std::uint64_t> promises, std::int64_t second_at) {
    exclusion judge(1);
    judge.granted({10, 0, 0, 0, granted});
    for (const std::uint64_t until : promises) judge.promised({10, until, 0, 0, promised});
    judge.granted({second_at, 0, 0, 1, granted});
    judge.released({second_at + 1, 0, 0, 1, released});
    judge.released({90, 0, 0, 0, released});
    judge.finish(100);
    return judge.certain();
  };
  EXPECT_EQ(violations({}, 50), 1U);
  EXPECT_EQ(violations({50}, 50), 0U);
  EXPECT_EQ(violations({51}, 50), 1U);
  EXPECT_EQ(violations({40, 60}, 50), 1U);  // renewed
  EXPECT_EQ(violations({40, 60}, 60), 0U);
}

// The sweep over holds agrees exactly with trying every linearization.
TEST(exclusion, agrees_with_brute_force_on_10000_random_histories) {
  std::mt19937 rng(7);
  int linear = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto ops = random_history(rng);
    const bool expected = linearizable(ops, 0, -1);
    linear += expected;
    ASSERT_EQ(sweep(ops).certain() == 0, expected) << "history " << i;
  }
  EXPECT_GT(linear, 500);
  EXPECT_LT(linear, 9'500);
}

// A violation names the key, the two holders and both intervals.
TEST(exclusion, names_both_holders_and_intervals) {
  exclusion x(3);
  x.granted({100, 7, 2, 11, granted});
  x.granted({150, 8, 2, 12, granted});
  x.released({180, 0, 2, 11, released});
  x.released({300, 0, 2, 12, released});
  ASSERT_EQ(x.certain(), 1U);
  const violation v = x.examples().at(0);
  EXPECT_EQ(v.key, 2U);
  EXPECT_EQ(v.first.client, 11U);
  EXPECT_EQ(v.first.granted_ns, 100);
  EXPECT_EQ(v.first.release_sent_ns, 180);
  EXPECT_EQ(v.second.client, 12U);
  EXPECT_EQ(v.second.granted_ns, 150);
  EXPECT_EQ(v.second.release_sent_ns, 300);
  EXPECT_EQ(v.overlap_ns, 30);
}

// Three concurrent holders are three pairs, and a hold that never ends ends with the run.
TEST(exclusion, counts_pairs_and_closes_open_holds) {
  exclusion x(1);
  for (std::uint32_t c = 0; c < 3; ++c) x.granted({10 + c, 0, 0, c, granted});
  x.finish(50);
  EXPECT_EQ(x.certain(), 3U);
  EXPECT_TRUE(x.examples().at(0).first.open_at_end);
}

TEST(exclusion, a_semaphore_admits_its_leases_and_no_more) {
  exclusion x(1, nullptr, 2);
  x.granted({10, 0, 0, 1, event_kind::granted});
  x.granted({11, 0, 0, 1, event_kind::granted});  // again: still one client
  x.granted({20, 0, 0, 2, event_kind::granted});
  x.granted({30, 0, 0, 3, event_kind::granted});
  x.released({40, 0, 0, 1, event_kind::released});
  x.released({41, 0, 0, 1, event_kind::released});
  x.granted({50, 0, 0, 4, event_kind::granted});
  x.finish(60);
  ASSERT_EQ(x.certain(), 2u);  // client 3 beside 1 and 2, client 4 beside 2 and 3
  EXPECT_EQ(x.examples()[0].first.client, 1u);
  EXPECT_EQ(x.examples()[0].second.client, 3u);
}

TEST(exclusion, readers_exclude_nobody) {
  exclusion x(1, nullptr, 0);
  x.granted({10, 0, 0, 1, event_kind::granted});
  x.granted({20, 0, 0, 2, event_kind::granted});
  x.finish(60);
  EXPECT_EQ(x.certain() + x.possible(), 0u);
}

// Holds that touch at one instant do not overlap; a client does not overlap with itself.
TEST(exclusion, touching_holds_and_reentry_are_no_violation) {
  exclusion x(1);
  x.granted({10, 0, 0, 1, granted});
  x.granted({20, 0, 0, 2, granted});
  x.released({20, 0, 0, 1, released});
  x.granted({25, 0, 0, 2, granted});
  x.released({30, 0, 0, 2, released});
  x.released({40, 0, 0, 2, released});
  x.finish(50);
  EXPECT_EQ(x.certain() + x.possible(), 0U);
  EXPECT_EQ(x.transfers(), 1U);
}

TEST(token_order, a_token_that_does_not_grow_is_stale) {
  token_order t(2, 3, 1);
  t.granted({1, 5, 0, 1, granted});
  t.granted({2, 5, 1, 1, granted});
  t.granted({3, 6, 0, 2, granted});
  EXPECT_EQ(t.stale(), 0U);
  t.granted({4, 6, 0, 1, granted});
  EXPECT_EQ(t.stale(), 1U);
  t.granted({5, 4, 0, 2, granted});
  EXPECT_EQ(t.stale(), 2U);
  t.granted({6, 7, 0, 2, granted});
  EXPECT_EQ(t.stale(), 2U);
}

// Two of a semaphore's holders, on different threads, read their grants in the other order than the
// server gave them; a third one asks afterwards and is given an old number.
TEST(token_order, holders_at_once_learn_their_tokens_in_any_order) {
  token_order t(1, 3, 2);
  t.began({1, 0, 0, 0, began});
  t.began({2, 0, 0, 1, began});
  t.granted({3, 6, 0, 1, granted});
  t.granted({4, 5, 0, 0, granted});
  EXPECT_EQ(t.stale(), 0U);
  t.began({5, 0, 0, 2, began});
  t.granted({6, 6, 0, 2, granted});
  EXPECT_EQ(t.stale(), 1U);
}

// A user's lock client may give no tokens; one that has given some must go on doing so.
TEST(token_order, no_tokens_at_all_are_in_order) {
  token_order t(1, 3, 1);
  t.granted({1, 0, 0, 1, granted});
  t.granted({2, 0, 0, 2, granted});
  EXPECT_EQ(t.stale(), 0U);
  t.granted({3, 9, 0, 1, granted});
  t.granted({4, 0, 0, 2, granted});
  EXPECT_EQ(t.stale(), 1U);
}

// Two commits that replaced the same version: one of them is lost.
TEST(lost_updates, a_version_replaced_twice_is_found) {
  lost_updates l(1);
  for (const std::uint64_t version : {0U, 2U, 1U, 3U}) l.committed({1, version, 0, 1, committed});
  l.server_counted(0, 4);
  EXPECT_EQ(l.found(), 0U);
  l.committed({1, 3, 0, 2, committed});
  EXPECT_EQ(l.found(), 1U);
}

// The server must have counted every confirmed commit, and beyond them at most those in doubt.
TEST(lost_updates, the_servers_count_must_agree) {
  const auto found = [](std::uint64_t server) {
    lost_updates l(1);
    l.committed({1, 0, 0, 1, committed});
    l.committed({2, 1, 0, 1, committed});
    l.doubtful({3, 2, 0, 1, doubtful});
    l.server_counted(0, server);
    return l.found();
  };
  EXPECT_EQ(found(1), 1U);
  EXPECT_EQ(found(2), 0U);
  EXPECT_EQ(found(3), 0U);
  EXPECT_EQ(found(4), 1U);
}

// A scripted trace: transfer, self-reacquire and idle grants with the times worked out by hand.
TEST(handoffs, a_scripted_trace_gives_the_hand_computed_values) {
  handoffs h(1);
  h.began({0, 0, 0, 1, began});
  EXPECT_EQ(h.granted({10, 0, 0, 1, granted}).kind, handoff_kind::first);
  h.began({20, 0, 0, 2, began});
  h.released({50, 0, 0, 1, released});
  const handoff to_2 = h.granted({57, 0, 0, 2, granted});
  EXPECT_EQ(to_2.kind, handoff_kind::transfer);
  EXPECT_EQ(to_2.took_ns, 7);
  h.released({80, 0, 0, 2, released});
  h.began({90, 0, 0, 2, began});
  const handoff again = h.granted({94, 0, 0, 2, granted});
  EXPECT_EQ(again.kind, handoff_kind::self_reacquire);
  EXPECT_EQ(again.took_ns, 14);
  h.released({100, 0, 0, 2, released});
  h.began({200, 0, 0, 1, began});
  EXPECT_EQ(h.granted({205, 0, 0, 1, granted}).kind, handoff_kind::idle);
  // 0-10, 50-57, 90-94 and 200-205: a waiter and no holder.
  EXPECT_EQ(h.times(205).idle_while_wanted_ns, 10 + 7 + 4 + 5);
  EXPECT_EQ(h.times(205).held_ns, 40 + 23 + 6);
  EXPECT_EQ(h.times(300).idle_while_wanted_ns, 10 + 7 + 4 + 5) << "it is held";
  EXPECT_EQ(h.times(300).held_ns, 40 + 23 + 6 + 95);
}

// Events of two threads come out in order of time, and none before both have reported.
TEST(merger, orders_two_threads_and_waits_for_the_slower) {
  journal a, b;
  merger merged({&a, &b});
  std::vector<std::int64_t> seen;
  const auto sink = [&](const event& e) { seen.push_back(e.at_ns); };
  a.note({10, 0, 0, 1, began});
  a.note({30, 0, 0, 1, granted});
  a.publish(40);
  merged.drain(sink);
  EXPECT_TRUE(seen.empty());
  b.note({20, 0, 0, 2, began});
  b.publish(30);
  merged.drain(sink);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{10, 20}));
  b.note({30, 0, 0, 2, released});
  b.publish(100);
  a.publish(100);
  merged.drain(sink);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{10, 20, 30, 30}));
}

// Events of one instant: releases and deaths first, since holds are half-open intervals and
// touching holds must not look like overlaps.
TEST(merger, puts_releases_before_grants_of_the_same_instant) {
  journal a, b, c;
  merger merged({&a, &b, &c});
  std::vector<event_kind> seen;
  a.note({10, 0, 0, 1, granted});
  b.note({10, 0, 0, 2, released});
  c.note({10, 0, 0, 3, died});
  for (journal* j : {&a, &b, &c}) j->publish(20);
  merged.drain([&](const event& e) { seen.push_back(e.kind); });
  EXPECT_EQ(seen, (std::vector<event_kind>{released, died, granted}));
}

// A writer and a reader on two threads lose nothing and keep the order (also run under TSan).
TEST(journal, hands_over_between_threads) {
  constexpr int count = 20'000;
  journal j;
  std::thread writer([&] {
    for (int i = 1; i <= count; ++i) {
      j.note({i, 0, 0, 1, began});
      if (i % 100 == 0) j.publish(i + 1);
    }
  });
  merger merged({&j});
  std::int64_t last = 0;
  while (last < count) {
    merged.drain([&](const event& e) {
      ASSERT_EQ(e.at_ns, last + 1);
      last = e.at_ns;
    });
  }
  writer.join();
}

}  // namespace
}  // namespace lockmark::check
