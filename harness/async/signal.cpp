#include "harness/async/signal.hpp"

namespace lockmark {

task<bool> signal::wait_until(time_point deadline) {
  if (set_) {
    set_ = false;
    co_return true;
  }
  loop_.add_timer(*this, deadline);
  co_return co_await parked_.wait();
}

task<void> signal::wait() {
  if (set_) {
    set_ = false;
    co_return;
  }
  co_await parked_.wait();
}

void signal::set() {
  if (!parked_.occupied()) {
    set_ = true;
    return;
  }
  loop_.remove_timer(*this);
  loop_.resume(parked_.take(), true);
}

}  // namespace lockmark
