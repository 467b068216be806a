// The memory locks against the suite that every driver passes, and the promises of their own.
#include "drivers/memory/memory.hpp"

#include <gtest/gtest.h>

#include "drivers/conformance/conformance.hpp"
#include "drivers/memory/key_lock.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::memory {
namespace {

using namespace std::chrono_literals;

struct memory_lock : testing::Test {
  std::unique_ptr<driver> make(std::string_view name) {
    for (const lock_kind& kind : kinds()) {
      if (kind.name == name) return kind.make({"memory:", {"run", {"a", "b"}}, {}});
    }
    return nullptr;
  }

  simulated_clock clock;
  loop l{clock};
};

task<std::unique_ptr<session>> open(loop& l, driver& d) {
  return d.open(l, {.id = "one", .clients = 4}, time_point{1s});
}

task<void> count_calls(loop& l, driver& d, traffic& sent, std::uint64_t& served) {
  const auto s = co_await open(l, d);
  const request r{.lease = 1s, .deadline = time_point{1s}};
  (void)co_await s->acquire(r);
  (void)co_await s->release(r);
  (void)co_await s->release(r);
  sent = s->sent();
  const auto totals = co_await d.counters(l, time_point{1s});
  served = totals.at("commands");
  co_await s->close();
}

// Each call is one command and one round trip, as the session and as the server count.
TEST_F(memory_lock, calls_are_counted_on_both_sides) {
  for (const lock_kind& kind : kinds()) {
    const auto d = make(kind.name);
    traffic sent;
    std::uint64_t served = 0;
    run_to_end(l, count_calls(l, *d, sent, served));
    EXPECT_EQ(sent.commands, 3U) << kind.name;
    EXPECT_EQ(sent.round_trips, 3U) << kind.name;
    EXPECT_EQ(served, 3U) << kind.name;
  }
}

task<void> hold(session& s, loop& l, std::uint32_t client, duration lease,
                std::vector<time_point>& granted_at) {
  const auto got = co_await s.acquire({0, client, lease, time_point{1h}});
  if (got.done()) granted_at.push_back(l.now());
}

task<void> hold_one_after_another(loop& l, driver& d, std::vector<time_point>& granted_at) {
  const auto s = co_await open(l, d);
  scope waiting{l};
  for (std::uint32_t client = 0; client < 4; ++client) {
    const duration lease = client % 2 == 0 ? 30s : 1s;
    waiting.spawn(hold(*s, l, client, lease, granted_at));
  }
  co_await l.sleep_until(time_point{5s});
  const auto gone = co_await s->release({0, 0, 30s, time_point{1h}});
  EXPECT_TRUE(gone.done());
  co_await waiting.join();
  EXPECT_EQ(s->sent().wakeups, 3U);
  co_await s->close();
}

// Only the first releases, long before its lease ends: each other waiter is woken when the lease
// before its own ends, though that lease was shorter than the one it began to wait for.
TEST_F(memory_lock, each_lease_wakes_the_next_in_line) {
  std::vector<time_point> granted_at;
  const auto d = make("memory/lock");
  run_to_end(l, hold_one_after_another(l, *d, granted_at));
  EXPECT_EQ(granted_at,
            (std::vector{time_point{0s}, time_point{5s}, time_point{6s}, time_point{36s}}));
}

task<void> wait_once(session& s, std::uint32_t client, time_point deadline,
                     std::vector<std::string>& endings) {
  const auto got = co_await s.acquire({0, client, 1h, deadline});
  endings.push_back(got.done() ? "granted" : std::string{name_of(got.why_refused())});
}

task<void> leave_the_line(loop& l, driver& d, std::vector<std::string>& endings) {
  const auto s = co_await open(l, d);
  scope waiting{l};
  waiting.spawn(wait_once(*s, 0, time_point{1h}, endings));
  waiting.spawn(wait_once(*s, 1, time_point{1s}, endings));
  waiting.spawn(wait_once(*s, 2, time_point{1h}, endings));
  co_await l.sleep_until(time_point{2s});
  const auto gone = co_await s->release({0, 0, 1h, time_point{1h}});
  EXPECT_TRUE(gone.done());
  co_await waiting.join();
  co_await s->close();
}

// A waiter that gives up leaves the line, and the next one is served.
TEST_F(memory_lock, a_waiter_past_its_deadline_is_passed_over) {
  std::vector<std::string> endings;
  const auto d = make("memory/lock");
  run_to_end(l, leave_the_line(l, *d, endings));
  EXPECT_EQ(endings, (std::vector<std::string>{"granted", "deadline", "granted"}));
}

// A waiter that a shortened lease is about to wake is granted the key meanwhile: the ring under way
// is enough, and after a second one the waiter might be gone.
TEST_F(memory_lock, nobody_is_rung_twice) {
  key_lock key;
  const owner holder{&key, 0};
  const owner next{&key, 1};
  const request r{.client = 1, .lease = 1s, .deadline = time_point{1h}};
  EXPECT_TRUE(key.try_take(holder, 1, 30s, l.now(), false));
  waiter w{l, next, r, 1};
  rings of_join, of_extend, of_give_back, of_look;
  key.join(w, l.now(), of_join);
  EXPECT_EQ(of_join.first(), nullptr);
  EXPECT_TRUE(key.extend(holder, 1s, l.now(), of_extend));
  EXPECT_EQ(of_extend.first(), &w);
  EXPECT_TRUE(key.give_back(holder, l.now(), of_give_back));
  EXPECT_EQ(of_give_back.first(), nullptr);
  EXPECT_TRUE(key.look_again(w, true, l.now(), of_look));
  EXPECT_TRUE(w.granted);
}

// Deadlines race with hand-overs between threads: no waiter is lost, and no two are inside at once.
TEST(memory_threads, deadlines_race_with_hand_overs) {
  const lock_kind kind = kinds().front();
  const auto d = kind.make({"memory:", {"run", {"a"}}, {}});
  const conformance::hammering how{
      .threads = 3, .sessions = 2, .clients = 2, .cycles = 20'000, .wait = 20us};
  const auto seen = conformance::hammer(*d, kind, how);
  EXPECT_EQ(seen.overlaps, 0U);
  EXPECT_EQ(seen.lost_holds, 0U);
  EXPECT_EQ(seen.tokens_fell, 0U);
  EXPECT_GT(seen.refused, 0U);
}

}  // namespace
}  // namespace lockmark::memory

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (const lockmark::lock_kind& kind : lockmark::memory::kinds()) {
    lockmark::conformance::add({.kind = kind, .target = "memory:", .in_process = true});
  }
  const auto shared = lockmark::memory::shared_kinds();
  for (const lockmark::lock_kind& kind : shared) {
    lockmark::conformance::subject s{.kind = kind, .target = "memory:", .in_process = true};
    if (kind.name == "memory/read") s.writer = shared.back();
    lockmark::conformance::add(s);
  }
  return RUN_ALL_TESTS();
}
