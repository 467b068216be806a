// The findings from a history, event by event: each check runs over the whole history, and its
// result is in the findings.
#include "harness/run/history_checker.hpp"

#include <gtest/gtest.h>

namespace lockmark::run {
namespace {

using enum check::event_kind;

// Between any two clients.
struct steady_error final : check::clock_errors {
  explicit steady_error(std::int64_t ns) : error_ns(ns) {}
  std::int64_t between(std::uint32_t, std::uint32_t, std::int64_t) const override {
    return error_ns;
  }
  std::int64_t error_ns;
};

class analysis : public testing::Test {
 protected:
  analysis() {
    window_.start_ns.store(1'000);
    window_.end_ns.store(2'000);
  }
  history_checker of(features has, std::uint32_t holders = 1,
                     const check::clock_errors* clocks = nullptr) const {
    history_checker::shape s;
    s.keys = 2;
    s.clients = s.competitors = 4;
    s.lock_has = has;
    s.holders = holders;
    s.clocks = clocks;
    s.keeps_grants = true;
    return {s, window_};
  }
  // A client is granted key 0, with the given token.
  static void take(history_checker& a, std::uint32_t client, std::int64_t at_ns,
                   std::uint64_t token = 0) {
    a.see({at_ns, 0, 0, client, began});
    a.see({at_ns, token, 0, client, granted});
  }
  static void give(history_checker& a, std::uint32_t client, std::int64_t at_ns) {
    a.see({at_ns, 0, 0, client, released});
  }

  window window_;
};

// Also before and after the window: a lock must hold in warm-up and drain, too.
TEST_F(analysis, finds_two_holders_anywhere) {
  for (const std::int64_t at_ns : {100, 1'100, 2'100}) {
    history_checker a = of({});
    take(a, 1, at_ns);
    take(a, 2, at_ns + 10);
    give(a, 1, at_ns + 15);
    EXPECT_EQ(a.violations_so_far(), 0u) << "how long they overlap is not known yet";
    give(a, 2, at_ns + 20);
    a.finish(3'000);
    const findings f = a.result();
    EXPECT_EQ(a.violations_so_far(), 1u);
    EXPECT_EQ(f.certain_violations, 1u);
    EXPECT_EQ(f.possible_violations, 0u);
    EXPECT_EQ(f.transfers, 1u);
    ASSERT_EQ(f.violations.size(), 1u);
    EXPECT_EQ(f.violations[0].overlap_ns, 5);
    ASSERT_EQ(f.overlaps.size(), 1u);
    EXPECT_EQ(f.overlaps[0].at_ns, at_ns + 10);
    EXPECT_EQ(f.overlaps[0].first_client, 1u);
    EXPECT_EQ(f.overlaps[0].second_client, 2u);
  }
}

TEST_F(analysis, finds_nothing_in_holds_one_after_another) {
  history_checker a = of(feature::fencing_token);
  for (std::uint32_t i = 0; i < 100; ++i) {
    take(a, i % 4, 900 + 12 * i, i + 1);
    give(a, i % 4, 910 + 12 * i);
  }
  a.finish(3'000);
  const findings f = a.result();
  EXPECT_EQ(f.certain_violations + f.possible_violations + f.stale_tokens + f.lost_updates, 0u);
  EXPECT_EQ(f.orphaned, 0u);
  EXPECT_EQ(f.transfers, 99u);
}

// Holds without an end, end with the run.
TEST_F(analysis, finds_holds_that_never_end) {
  history_checker a = of({});
  take(a, 1, 1'100);
  take(a, 2, 1'200);
  a.finish(1'250);
  EXPECT_EQ(a.result().certain_violations, 1u);
  EXPECT_EQ(a.result().violations.at(0).overlap_ns, 50);
}

TEST_F(analysis, an_overlap_within_the_clocks_error_is_possible) {
  const steady_error clocks{20};
  history_checker a = of({}, 1, &clocks);
  take(a, 1, 1'100);
  take(a, 2, 1'110);
  give(a, 1, 1'115);
  give(a, 2, 1'120);
  a.finish(3'000);
  EXPECT_EQ(a.result().certain_violations, 0u);
  EXPECT_EQ(a.result().possible_violations, 1u);
}

TEST_F(analysis, a_semaphore_is_held_to_its_number) {
  for (const std::uint32_t holders : {0U, 1U, 2U, 3U}) {
    history_checker a = of({}, holders);
    for (std::uint32_t client = 0; client < 3; ++client) take(a, client, 1'100 + client);
    for (std::uint32_t client = 0; client < 3; ++client) give(a, client, 1'200 + client);
    a.finish(3'000);
    const std::uint64_t expected[] = {0, 3, 1, 0};
    EXPECT_EQ(a.result().certain_violations, expected[holders]) << holders;
  }
}

// Only for locks that declare tokens; others give none.
TEST_F(analysis, finds_tokens_that_do_not_grow) {
  for (const bool has_tokens : {true, false}) {
    history_checker a = of(has_tokens ? features{feature::fencing_token} : features{});
    for (const std::uint64_t token : {7, 8, 8}) {
      take(a, 1, 1'100 + static_cast<std::int64_t>(token), token);
      give(a, 1, 1'100 + static_cast<std::int64_t>(token));
    }
    a.finish(3'000);
    EXPECT_EQ(a.result().stale_tokens, has_tokens ? 1u : 0u);
  }
}

// However far the events are from the window's edges, nothing is idle for longer than the window.
TEST_F(analysis, cuts_idle_time_at_the_windows_edges) {
  struct wait {
    std::int64_t from, to, in_window;
  };
  for (const wait& w : {wait{100, 1'900, 900}, wait{100, 2'500, 1'000}, wait{1'200, 2'500, 800},
                        wait{100, 900, 0}, wait{2'100, 2'500, 0}}) {
    history_checker a = of({});
    a.see({w.from, 0, 0, 1, began});
    a.see({w.to, 0, 0, 1, ended});
    a.finish(3'000);
    EXPECT_EQ(a.result().idle_while_wanted_ns, w.in_window) << w.from << " to " << w.to;
  }
}

// The wait is as long as the response, which counts where the attempt began.
TEST_F(analysis, sees_the_longest_wait_though_it_ends_after_the_window) {
  for (const auto ending : {granted, ended}) {
    history_checker a = of({});
    a.see({1'500, 0, 0, 1, began});
    a.see({12'600, 0, 0, 1, ending});
    a.finish(13'000);
    EXPECT_EQ(a.result().fairness.longest_wait_ns(), 11'100);
  }
}

// Two commits of one version; and the server's count, which may include those in doubt.
TEST_F(analysis, finds_lost_updates) {
  history_checker a = of(feature::optimistic);
  for (const std::uint32_t client : {0U, 1U}) {
    a.see({1'100, 0, 0, client, began});
    a.see({1'110, 5, 0, client, committed});
  }
  a.see({1'120, 0, 1, 2, began});
  a.see({1'130, 6, 1, 2, doubtful});
  a.see({1'130, 2, 1, 2, ended});
  a.updates().server_counted(0, 2);
  a.updates().server_counted(1, 1);
  a.finish(3'000);
  EXPECT_EQ(a.result().lost_updates, 1u);
  a.updates().server_counted(1, 2);
  EXPECT_EQ(a.result().lost_updates, 2u);
}

// Dead clients hold nothing, so the next grant is no violation: it tells how long the key was
// orphaned.
TEST_F(analysis, the_holds_of_the_dead_are_orphaned) {
  history_checker a = of({});
  take(a, 1, 1'100);
  a.see({1'150, 0, 0, 2, began});
  a.see({1'200, 0, 0, 1, died});
  a.see({1'500, 0, 0, 2, granted});
  give(a, 2, 1'600);
  take(a, 3, 1'990);
  give(a, 3, 1'995);
  a.finish(3'000);
  const findings f = a.result();
  EXPECT_EQ(f.certain_violations, 0u);
  EXPECT_EQ(f.orphaned, 1u);
  EXPECT_EQ(f.longest_orphaned_ns, 300);
  EXPECT_EQ(f.longest_gap_ns, 490);
  EXPECT_EQ(f.gap_began_ns, 1'500);
  ASSERT_EQ(f.grant_stamps.size(), 3u);
  EXPECT_EQ(f.grant_stamps[1].at_ns, 1'500);
  EXPECT_EQ(f.grant_stamps[1].client, 2u);
}

// Nothing happens after the last grant: the gap lasts to the end of the window.
TEST_F(analysis, a_gap_may_last_to_the_end) {
  history_checker a = of({});
  take(a, 1, 1'100);
  give(a, 1, 1'200);
  a.finish(3'000);
  EXPECT_EQ(a.result().longest_gap_ns, 900);
  EXPECT_EQ(a.result().gap_began_ns, 1'100);
}

// A client's actions before its death can still be a violation.
TEST_F(analysis, the_dead_are_not_forgiven) {
  history_checker a = of({});
  take(a, 1, 1'100);
  take(a, 2, 1'150);
  a.see({1'200, 0, 0, 1, died});
  give(a, 2, 1'300);
  a.finish(3'000);
  EXPECT_EQ(a.result().certain_violations, 1u);
}

// As the totals count: an attempt belongs to the window by the moment at which it was due, and
// lasts from there; a pipe to the client is taken out; what a dying process had in flight is left
// out.
TEST_F(analysis, counts_the_attempts_of_each_client) {
  history_checker a = of({});
  for (std::int64_t at_ns = 900; at_ns < 1'900; at_ns += 100) {
    a.see({at_ns, 20, 0, 1, began});  // due 20 ns before
    check::event grant{at_ns + 30, 0, 0, 1, granted};
    grant.pipe_ns = 10;
    a.see(grant);
    give(a, 1, at_ns + 40);
  }
  for (std::int64_t at_ns = 1'900; at_ns < 1'990; at_ns += 10) {
    a.see({at_ns, 0, 0, 2, began});
    a.see({at_ns + 9, 0, 0, 2, ended});
  }
  a.see({1'995, 0, 0, 0, began});
  a.see({1'995, 0, 0, 3, began});
  check::event cut{2'005, 0, 0, 3, ended};
  cut.cut = true;
  a.see(cut);
  a.finish(3'000);
  const stats::client_outcomes::summary found = a.result().clients;
  EXPECT_EQ(found.attempted, 3u) << "0 had not ended, 1, 2; not 3, whose process died";
  EXPECT_EQ(found.never_granted, 1u);
  ASSERT_TRUE(found.lowest_success);
  EXPECT_EQ(found.lowest_success->client, 2u);
  EXPECT_EQ(found.lowest_success->attempts, 9);
}

TEST_F(analysis, takes_a_clients_response_from_when_it_was_due) {
  history_checker a = of({});
  for (std::int64_t i = 0; i < 400; ++i) {
    a.see({1'100 + i, 50, 0, 1, began});
    check::event grant{1'100 + i, 0, 0, 1, granted};
    grant.pipe_ns = 20;
    a.see(grant);
    give(a, 1, 1'100 + i);
  }
  a.finish(3'000);
  EXPECT_EQ(a.result().clients.highest_p99->value, (stats::quantile_ns{30, false}));
  EXPECT_EQ(a.result().clients.highest_p99->attempts, 400);
}

}  // namespace
}  // namespace lockmark::run
