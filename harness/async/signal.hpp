// One coroutine waits; another on the same loop wakes it, or its deadline does.
//
// The primitive behind everything that waits in this project: sleeping, replies, watches, waiters
// of a lock. Not a broadcast: at most one coroutine waits on a signal at a time.
#pragma once

#include "harness/async/loop.hpp"
#include "harness/async/parking.hpp"

namespace lockmark {

class signal final : private timer {
 public:
  explicit signal(loop& l) : loop_(l) {}
  ~signal() { loop_.remove_timer(*this); }

  // True: set() was called before or during the wait (and is now forgotten). False: the deadline
  // came first. REQUIRES: no other waiter on this signal.
  task<bool> wait_until(time_point deadline);

  // Waits without limit.
  task<void> wait();

  // Wakes the waiter, or lets the next wait end at once. Setting twice counts once.
  void set();

  // Forgets a set() that no wait has consumed.
  void clear() { set_ = false; }

 private:
  void fire() override { loop_.resume(parked_.take(), false); }

  loop& loop_;
  parking parked_;
  bool set_ = false;
};

}  // namespace lockmark
