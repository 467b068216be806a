// How long this machine delayed an idle thread: the noise floor of every latency measured at the
// same time. After jHiccup (Gil Tene): if the meter saw a stall, the load suffered at least that.
#pragma once

#include <atomic>
#include <thread>

#include "harness/run/phases.hpp"
#include "harness/stats/histogram.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::run {

class hiccup_meter {
 public:
  // Starts a thread that sleeps 1 ms at a time. Only overshoots within the window count.
  hiccup_meter(const real_clock& clock, const window& w);
  ~hiccup_meter() { stop(); }
  void stop();
  // REQUIRES: stopped.
  const stats::histogram& overshoot() const { return overshoot_; }

 private:
  void measure();

  const real_clock& clock_;
  const window& window_;
  stats::histogram overshoot_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace lockmark::run
