#include "harness/check/guard.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <mutex>
#include <thread>
#include <vector>

namespace lockmark::check {
namespace {

struct guarded {
  explicit guarded(bool fenced, std::size_t keys = 1)
      : registers(keys), resource(registers, fenced) {}
  std::vector<guarded_register> registers;
  guard resource;
};

TEST(guard, holders_one_after_another_lose_nothing) {
  guarded g(true);
  for (std::uint64_t token = 1; token <= 10; ++token) {
    g.resource.write(0, token, g.resource.read(0, token));
  }
  const guard_counts c = g.resource.counts();
  EXPECT_EQ(c.writes, 10u);
  EXPECT_EQ(c.lost_updates, 0u);
  EXPECT_EQ(c.stale_accesses, 0u);
  EXPECT_EQ(c.writes_without_token, 0u);
  EXPECT_EQ(c.proofs(), 0u);
  EXPECT_TRUE(c.fenced);
}

// A paused holder overwrites its successor's update.
TEST(guard, a_holder_paused_past_its_lease_loses_an_update_and_is_stale) {
  guarded g(true);
  const std::uint64_t first = g.resource.read(0, 1);
  const std::uint64_t second = g.resource.read(0, 2);
  g.resource.write(0, 2, second);
  g.resource.write(0, 1, first);
  const guard_counts c = g.resource.counts();
  EXPECT_EQ(c.writes, 2u);
  EXPECT_EQ(c.lost_updates, 1u);
  EXPECT_EQ(c.stale_accesses, 1u);
  EXPECT_EQ(c.proofs(), 1u);
}

// Without tokens a fence cannot work, but the register still detects it.
TEST(guard, without_tokens_an_update_is_lost_all_the_same) {
  guarded g(false);
  const std::uint64_t first = g.resource.read(0, 7);
  const std::uint64_t second = g.resource.read(0, 3);
  g.resource.write(0, 3, second);
  g.resource.write(0, 7, first);
  const guard_counts c = g.resource.counts();
  EXPECT_EQ(c.lost_updates, 1u);
  EXPECT_EQ(c.stale_accesses, 0u);
  EXPECT_EQ(c.writes_without_token, 2u);
  EXPECT_EQ(c.misjudged_without_order, 0u);
  EXPECT_EQ(c.proofs(), 1u);
  EXPECT_FALSE(c.fenced);
}

// A stale holder so late that nobody writes meanwhile is stale in both of its accesses, and counts
// as one holder.
TEST(guard, a_stale_grant_is_one_proof) {
  guarded g(true);
  g.resource.write(0, 5, g.resource.read(0, 5));
  g.resource.write(0, 4, g.resource.read(0, 4));
  const guard_counts c = g.resource.counts();
  EXPECT_EQ(c.stale_accesses, 2u);
  EXPECT_EQ(c.lost_updates, 0u);
  EXPECT_EQ(c.proofs(), 1u);
}

// As Sanfilippo has it: who stops at work finds the token of its successor, order or not.
TEST(guard, a_unique_token_shows_a_holder_that_stopped_at_work) {
  guarded g(true);
  const std::uint64_t first = g.resource.read(0, 1);
  g.resource.write(0, 2, g.resource.read(0, 2));
  g.resource.write(0, 1, first);
  EXPECT_EQ(g.resource.counts().stale_accesses, 1u);
  EXPECT_EQ(g.resource.counts().misjudged_without_order, 0u);
}

// Who stops between its grant and its first access shows its token last, and passes for the holder.
TEST(guard, a_token_without_order_lets_a_late_beginner_write) {
  guarded g(true);
  g.resource.write(0, 2, g.resource.read(0, 2));
  g.resource.write(0, 1, g.resource.read(0, 1));
  EXPECT_EQ(g.resource.counts().misjudged_without_order, 1u);
}

TEST(guard, a_token_without_order_lets_a_late_beginner_spoil_the_holders_write) {
  guarded g(true);
  const std::uint64_t second = g.resource.read(0, 2);
  const std::uint64_t first = g.resource.read(0, 1);
  g.resource.write(0, 2, second);
  EXPECT_EQ(g.resource.counts().misjudged_without_order, 1u);
  const std::uint64_t third = g.resource.read(0, 3);
  g.resource.write(0, 1, first);
  g.resource.write(0, 3, third);
  EXPECT_EQ(g.resource.counts().misjudged_without_order, 1u);
}

// A holder without a token shows none.
TEST(guard, the_token_shown_last_is_that_of_a_holder_that_has_one) {
  guarded g(true);
  const std::uint64_t first = g.resource.read(0, 1);
  g.resource.write(0, 0, g.resource.read(0, 0));
  g.resource.write(0, 1, first);
  EXPECT_EQ(g.resource.counts().misjudged_without_order, 0u);
}

TEST(guard, keys_do_not_disturb_each_other) {
  guarded g(true, 2);
  const std::uint64_t here = g.resource.read(0, 1);
  g.resource.write(1, 9, g.resource.read(1, 9));
  g.resource.write(0, 1, here);
  EXPECT_EQ(g.resource.counts().proofs(), 0u);
  EXPECT_EQ(g.resource.counts().writes, 2u);
}

// Threads under a real mutex never lose an update.
TEST(guard, loses_nothing_between_threads_that_exclude_each_other) {
  guarded g(false);
  std::mutex lock;
  const auto work = [&] {
    for (int i = 0; i < 2'000; ++i) {
      const std::lock_guard held(lock);
      g.resource.write(0, 0, g.resource.read(0, 0));
    }
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
  EXPECT_EQ(g.resource.counts().writes, 4'000u);
  EXPECT_EQ(g.resource.counts().lost_updates, 0u);
}

// Two concurrent holders, round after round: the last writer overwrites the other's update.
TEST(guard, counts_exactly_one_lost_update_for_two_holders) {
  constexpr std::uint64_t rounds = 200;
  guarded g(false);
  std::barrier both(2);
  const auto work = [&] {
    for (std::uint64_t i = 0; i < rounds; ++i) {
      const std::uint64_t read = g.resource.read(0, 0);
      both.arrive_and_wait();
      g.resource.write(0, 0, read);
      both.arrive_and_wait();
    }
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
  EXPECT_EQ(g.resource.counts().writes, 2 * rounds);
  EXPECT_EQ(g.resource.counts().lost_updates, rounds);
}

}  // namespace
}  // namespace lockmark::check
