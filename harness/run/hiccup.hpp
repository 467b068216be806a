// How long this machine delayed an idle thread: the noise floor of every latency measured at the
// same time. After jHiccup (Gil Tene): if the meter saw a stall, the load suffered at least that.
#pragma once

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "harness/run/phases.hpp"
#include "harness/run/recorder.hpp"
#include "harness/stats/histogram.hpp"
#include "harness/time/clock.hpp"
#include "harness/time/metronome.hpp"

namespace lockmark::run {

// What a thread saw that was to wake at each beat. Only the window counts.
struct hiccups {
  // By beat of the fixed schedule, every missed one included: what arrivals at a constant rate
  // meet.
  stats::histogram by_beat;
  // By waking, as if it had been each millisecond: each stall once, however long, as a client of a
  // closed loop meets it.
  stats::histogram by_wake;
  std::vector<freeze> freezes;  // the first 1,000, also outside the window
  std::vector<freeze> asleep;   // times for which the machine was suspended; the first 1,000
};

// 1 to 5 ms: each millisecond, or in a window that is longer than 10 s for sure, at least as often
// as gives ten thousand beats, enough for p99.9. A waking takes 5 to 20 us of a core from the load.
duration hiccup_period(duration least_window);

// The part without a thread and a clock of its own.
class hiccup_count {
 public:
  // REQUIRES: period >= 1 ms.
  hiccup_count(time_point first, duration period, const window& w);
  time_point next() const { return beat_.next(); }
  // Awake at `now`; the machine has been suspended for `suspended_ns` in its life.
  void awake(time_point now, std::int64_t suspended_ns);
  const hiccups& seen() const { return seen_; }

 private:
  const window& window_;
  duration period_;
  metronome beat_;
  hiccups seen_;
  std::optional<std::int64_t> suspended_ns_;
};

class hiccup_meter {
 public:
  // Starts a thread that wakes each `period`.
  hiccup_meter(const real_clock& clock, duration period, const window& w);
  ~hiccup_meter() { stop(); }
  void stop();
  // REQUIRES: stopped.
  const hiccups& seen() const { return count_.seen(); }

 private:
  void measure();

  const real_clock& clock_;
  hiccup_count count_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace lockmark::run
