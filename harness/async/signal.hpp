// One coroutine waits, somebody else on the same loop wakes it, or its deadline does.
//
// The one primitive that everything which waits in this project is built from: sleeping, replies,
// watches, waiters of a lock. Not a broadcast: at most one coroutine waits on a signal at a time.
#pragma once

#include "harness/async/loop.hpp"
#include "harness/async/parking.hpp"

namespace lockmark {

class signal final : private timer {
 public:
  explicit signal(loop& l) : loop_(l) {}
  ~signal() { loop_.remove_timer(*this); }

  // True: set() was called, before or during the wait (and is now forgotten). False: the deadline
  // came first. REQUIRES: nobody waits on this signal yet.
  task<bool> wait_until(time_point deadline);

  // Waits without limit.
  task<void> wait();

  // Wakes the waiter, or lets the next wait end at once. Setting twice is setting once.
  void set();

  // Forgets a set() that nobody has waited for.
  void clear() { set_ = false; }

  bool has_waiter() const { return parked_.occupied(); }

 private:
  void fire() override { loop_.resume(parked_.take(), false); }

  loop& loop_;
  parking parked_;
  bool set_ = false;
};

}  // namespace lockmark
