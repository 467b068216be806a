#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "harness/async/fd_watch.hpp"
#include "harness/async/loop.hpp"
#include "harness/async/scope.hpp"
#include "harness/async/signal.hpp"
#include "harness/unique_fd.hpp"

namespace lockmark {
namespace {

using namespace std::chrono_literals;

struct simulated : testing::Test {
  simulated_clock clock;
  loop l{clock};
};

task<void> sleep_and_note(loop& l, duration d, std::vector<int>& notes, int note) {
  co_await l.sleep_for(d);
  notes.push_back(note);
}

// Sleepers wake in order of their deadlines, and a simulated hour takes no real time.
TEST_F(simulated, sleepers_wake_in_order) {
  std::vector<int> notes;
  scope s{l};
  s.spawn(sleep_and_note(l, 1h, notes, 3));
  s.spawn(sleep_and_note(l, 5ms, notes, 1));
  s.spawn(sleep_and_note(l, 10s, notes, 2));
  l.run();
  EXPECT_EQ(notes, (std::vector{1, 2, 3}));
  EXPECT_EQ(clock.now(), time_point{1h});
}

task<void> wait_and_note(signal& s, time_point deadline, std::vector<bool>& notes) {
  notes.push_back(co_await s.wait_until(deadline));
}

task<void> set_at(loop& l, signal& s, duration d) {
  co_await l.sleep_for(d);
  s.set();
}

// A signal set in time reports so; otherwise the wait ends at the deadline, not later.
TEST_F(simulated, a_signal_or_its_deadline_ends_the_wait) {
  signal early{l}, late{l};
  std::vector<bool> notes;
  scope s{l};
  s.spawn(wait_and_note(early, time_point{1s}, notes));
  s.spawn(set_at(l, early, 10ms));
  l.run();
  EXPECT_EQ(clock.now(), time_point{10ms});
  s.spawn(wait_and_note(late, time_point{2s}, notes));
  l.run();
  EXPECT_EQ(clock.now(), time_point{2s});
  EXPECT_EQ(notes, (std::vector{true, false}));
}

// A set() before the wait is not lost, and counts once.
TEST_F(simulated, an_early_set_is_remembered_once) {
  signal s{l};
  s.set();
  s.set();
  std::vector<bool> notes;
  run_to_end(l, wait_and_note(s, time_point{1s}, notes));
  run_to_end(l, wait_and_note(s, time_point{1s}, notes));
  EXPECT_EQ(notes, (std::vector{true, false}));
}

task<void> wait_for_all(signal& s, int number, std::vector<int>& order) {
  co_await s.wait_until(time_point::max());
  order.push_back(number);
}

task<void> set_together(loop& l, std::vector<std::unique_ptr<signal>>& all) {
  for (int turns = 0; turns < 3; ++turns) co_await l.yield();  // all wait by now
  for (const auto& each : all) each->set();
}

// Three that become ready in one turn: none of them is always the first.
TEST(real_loop, runs_in_random_order_what_is_ready_together) {
  const real_clock clock;
  loop l{clock};
  std::vector<int> firsts(3);
  for (int round = 0; round < 90; ++round) {
    std::vector<std::unique_ptr<signal>> all;
    for (int n = 0; n < 3; ++n) all.push_back(std::make_unique<signal>(l));
    std::vector<int> order;
    scope s{l};
    for (int n = 0; n < 3; ++n) s.spawn(wait_for_all(*all[static_cast<std::size_t>(n)], n, order));
    s.spawn(set_together(l, all));
    l.run();
    ASSERT_EQ(order.size(), 3U);
    ++firsts[static_cast<std::size_t>(order[0])];
  }
  for (const int times : firsts) EXPECT_GT(times, 10);
}

task<void> fail() {
  throw std::runtime_error("broken");
  co_return;
}

// An exception in a task comes out of its scope.
TEST_F(simulated, a_failing_task_fails_its_scope) {
  EXPECT_THROW(run_to_end(l, fail()), std::runtime_error);
}

// A task that can never be woken is reported instead of hanging the test.
TEST_F(simulated, a_deadlock_is_an_error) {
  signal s{l};
  EXPECT_THROW(run_to_end(l, s.wait()), std::logic_error);
}

struct counting_timer final : timer {
  explicit counting_timer(int& count) : count_(count) {}
  void fire() override { ++count_; }
  int& count_;
};

// Removing from the middle of the heap keeps the order of the rest.
TEST(timer_queue, remove_keeps_the_order) {
  timer_queue q;
  int fired = 0;
  std::vector<std::unique_ptr<counting_timer>> timers;
  for (int i = 0; i < 100; ++i) timers.push_back(std::make_unique<counting_timer>(fired));
  for (int i = 0; i < 100; ++i) {
    q.add(*timers[static_cast<std::size_t>(i)], from_ns((i * 37) % 100));
  }
  for (std::size_t i = 0; i < 100; i += 3) q.remove(*timers[i]);
  std::int64_t last = -1;
  while (const auto next = q.earliest()) {
    EXPECT_GT(to_ns(*next), last);
    last = to_ns(*next);
    q.fire_due(*next);
  }
  EXPECT_EQ(fired, 66);
}

// Real clock: a sleep ends after its deadline, and a post from another thread arrives.
TEST(real_loop, sleeps_and_takes_posts_from_other_threads) {
  const real_clock clock;
  loop l{clock};
  signal posted{l};
  std::vector<bool> notes;
  const time_point start = clock.now();
  std::thread other([&] { l.post([&] { posted.set(); }); });
  run_to_end(l, wait_and_note(posted, start + 10s, notes));
  run_to_end(l, l.sleep_until(start + 3ms));
  EXPECT_GE(clock.now() - start, 3ms);
  EXPECT_EQ(notes, std::vector{true});
  other.join();
}

task<void> wait_for(fd_watch& watch, unsigned events, time_point deadline,
                    std::vector<unsigned>& notes) {
  notes.push_back(co_await watch.wait(events, deadline));
}

// A pipe is readable only after a write to it.
TEST(fd_watch, tells_readable_from_deadline) {
  const real_clock clock;
  loop l{clock};
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    fd_watch watch{l, ends[0]};
    std::vector<unsigned> notes;
    run_to_end(l, wait_for(watch, fd_watch::readable, clock.now() + 2ms, notes));
    ASSERT_EQ(write(ends[1], "x", 1), 1);
    run_to_end(l, wait_for(watch, fd_watch::readable, clock.now() + 10s, notes));
    EXPECT_EQ(notes, (std::vector{0U, fd_watch::readable}));
  }
  close(ends[0]);
  close(ends[1]);
}

struct full_pair {
  full_pair() {
    int both[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both) != 0) std::abort();
    near = unique_fd{both[0]};
    far = unique_fd{both[1]};
    const std::string much(1 << 16, 'x');
    while (::write(near.get(), much.data(), much.size()) > 0) {
    }
  }
  void drain() const {
    std::string room(1 << 16, ' ');
    while (::read(far.get(), room.data(), room.size()) > 0) {
    }
  }
  unique_fd near, far;
};

// Makes the near end writable, lets the loop hear of it, and then makes it readable.
task<void> drain_then_say(loop& l, const full_pair& pair, const std::vector<unsigned>& notes,
                          std::size_t& ended_before) {
  co_await l.yield();
  pair.drain();
  for (int i = 0; i < 100; ++i) co_await l.yield();
  ended_before = notes.size();
  if (::write(pair.far.get(), "x", 1) != 1) std::abort();
}

// An earlier wait was for both events, and gave up. That the other one happens now is no news for
// somebody who wants to read, and no deadline.
TEST(fd_watch, waits_on_through_what_only_an_earlier_wait_wanted) {
  const real_clock clock;
  loop l{clock};
  const full_pair pair;
  fd_watch watch{l, pair.near.get()};
  std::vector<unsigned> notes;
  run_to_end(l, wait_for(watch, fd_watch::readable | fd_watch::writable, clock.now(), notes));
  ASSERT_EQ(notes, std::vector{0U});
  std::size_t ended_before = 0;
  scope both{l};
  both.spawn(wait_for(watch, fd_watch::readable, time_point::max(), notes));
  both.spawn(drain_then_say(l, pair, notes, ended_before));
  l.run();
  EXPECT_EQ(ended_before, 1U);
  EXPECT_EQ(notes, (std::vector{0U, fd_watch::readable}));
  // What happened meanwhile is not forgotten.
  run_to_end(l, wait_for(watch, fd_watch::writable, time_point::max(), notes));
  EXPECT_EQ(notes.back(), fd_watch::writable);
}

task<void> interrupt_soon(loop& l, fd_watch& watch) {
  co_await l.yield();
  watch.interrupt();
}

// Nothing happens, and somebody ends the wait; an interruption of nothing does not end the next.
TEST(fd_watch, can_be_interrupted) {
  const real_clock clock;
  loop l{clock};
  const full_pair pair;
  fd_watch watch{l, pair.near.get()};
  std::vector<unsigned> notes;
  scope both{l};
  both.spawn(wait_for(watch, fd_watch::readable, time_point::max(), notes));
  both.spawn(interrupt_soon(l, watch));
  l.run();
  EXPECT_EQ(notes, std::vector{0U});
  watch.interrupt();
  if (::write(pair.far.get(), "x", 1) != 1) std::abort();
  run_to_end(l, wait_for(watch, fd_watch::readable, time_point::max(), notes));
  EXPECT_EQ(notes.back(), fd_watch::readable);
}

}  // namespace
}  // namespace lockmark
