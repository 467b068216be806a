// One thread's event loop: an io_context, the deadlines of its coroutines, and a clock.
//
// Under a simulated clock the loop jumps to the next deadline when it has nothing else to do, so
// that a test of an hour's run takes milliseconds. It owns no threads: the caller of run() lends
// its own.
#pragma once

#include <asio/basic_waitable_timer.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "harness/async/parking.hpp"
#include "harness/async/task.hpp"
#include "harness/async/timer_queue.hpp"
#include "harness/time/clock.hpp"

namespace lockmark {

class loop {
 public:
  explicit loop(const real_clock& clock);
  explicit loop(simulated_clock& clock);
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;

  time_point now() const { return clock_.now(); }
  asio::io_context& context() { return context_; }

  // Grows whenever the loop switches to something else: equal before and after a co_await that did
  // not have to wait.
  std::uint64_t turn() const { return turn_; }

  // Runs until every task spawned on this loop (see scope) has ended.
  void run();

  // Runs `f` on this loop's thread, after the current handler. Callable from any thread.
  template <class F>
  void post(F&& f) {
    asio::post(context_, std::forward<F>(f));
  }

  // Ends at `when`; at once if that has passed.
  task<void> sleep_until(time_point when);
  task<void> sleep_for(duration d) { return sleep_until(now() + d); }

  // Lets everything else that is ready on this loop run first. (The result is always true.)
  task<bool> yield();

  // Resumes a parked coroutine after the current one. On the loop's thread.
  void resume(resumption parked, bool value);

  // Resumes those that are ready, within a handler that has more to tell: who is answered first
  // sends first, and no server idles until the last answer is read.
  void resume_ready() {
    if (!ready_.empty()) run_ready();
  }

  void add_timer(timer& t, time_point when);
  void remove_timer(timer& t) { timers_.remove(t); }

 private:
  friend class scope;
  void arm(time_point when);
  void run_ready();
  void run_simulated();

  const clock& clock_;
  simulated_clock* simulated_ = nullptr;
  asio::io_context context_;
  timer_queue timers_;
  asio::basic_waitable_timer<std::chrono::steady_clock,
                             asio::wait_traits<std::chrono::steady_clock>, executor>
      alarm_;
  std::optional<time_point> alarm_at_;
  // Coroutines ready to resume. One Asio handler runs all of them, because passing each through
  // Asio's queue would cost two mutexes apiece.
  std::vector<std::pair<resumption, bool>> ready_;
  bool posted_ = false;  // that handler
  std::vector<std::pair<resumption, bool>> running_;
  std::vector<std::uint32_t> order_;  // of running_
  std::minstd_rand random_;
  std::size_t live_tasks_ = 0;
  std::uint64_t turn_ = 0;
};

}  // namespace lockmark
