#include "harness/run/hiccup.hpp"

#include "harness/time/thread.hpp"

namespace lockmark::run {

hiccup_meter::hiccup_meter(const real_clock& clock, const window& w)
    : clock_(clock), window_(w), thread_([this] { measure(); }) {}

void hiccup_meter::stop() {
  stopping_.store(true, std::memory_order_relaxed);
  if (thread_.joinable()) thread_.join();
}

void hiccup_meter::measure() {
  punctual_thread();
  while (!stopping_.load(std::memory_order_relaxed)) {
    const time_point due = clock_.now() + std::chrono::milliseconds{1};
    block_until(due);
    const duration late = clock_.now() - due;
    if (window_.contains(to_ns(due))) overshoot_.record(late.count());
  }
}

}  // namespace lockmark::run
