// Time: the only code of the project that reads a clock.
//
// Everything timed is written against `clock`, so that it runs under `simulated_clock` in tests,
// without sleeping. Differences and deadlines use the monotonic clock; `wall_time` exists for
// file names and provenance only and never enters a measurement.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace lockmark {

using duration = std::chrono::nanoseconds;
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

// Nanoseconds since the clock's epoch; the stored form of stamps.
constexpr std::int64_t to_ns(time_point t) {
  return t.time_since_epoch().count();
}
constexpr time_point from_ns(std::int64_t ns) {
  return time_point{duration{ns}};
}

class clock {
 public:
  virtual ~clock() = default;
  virtual time_point now() const = 0;
};

// CLOCK_MONOTONIC by std::chrono::steady_clock: 22 ns a call, comparable between the threads and
// processes of one host.
class real_clock final : public clock {
 public:
  time_point now() const override { return std::chrono::steady_clock::now(); }
};

// Stands still until it is advanced; never goes back. Readable from several threads.
class simulated_clock final : public clock {
 public:
  time_point now() const override { return from_ns(now_ns_.load(std::memory_order_relaxed)); }
  void advance(duration by) { advance_to(now() + by); }
  void advance_to(time_point t) {
    if (t > now()) now_ns_.store(to_ns(t), std::memory_order_relaxed);
  }

 private:
  std::atomic<std::int64_t> now_ns_{0};
};

// CPU time used so far by the calling thread, and by the whole process (user + system).
std::int64_t thread_cpu_ns();
std::int64_t process_cpu_ns();
// The same of another process; 0 once it has ended.
std::int64_t process_cpu_ns(pid_t process);

// How long the machine has been suspended since it started: CLOCK_BOOTTIME - CLOCK_MONOTONIC. The
// monotonic clock stands still meanwhile; that of a server elsewhere does not.
std::int64_t suspended_so_far_ns();

// By how much the kernel makes the monotonic clock run faster (+) or slower (-) than its quartz, in
// ns a ms, as NTP asked it to; 500 more while it slews for adjtime(3).
double clock_slew_ppm();

// Lets the calling thread's timed waits end on time: Linux otherwise adds up to 50 us to save power
// (timer slack).
void punctual_thread();

// Blocks the calling thread until `when`, by an absolute timer. Not for event loops.
void block_until(time_point when);

// Nanoseconds since 1970 (UTC), by the system clock, which may jump.
std::int64_t wall_time_ns();

// A wall time as "2026-01-31T09:05:07Z", and in the compact form for folder names,
// "20260131-090507".
std::string iso8601_utc(std::int64_t wall_ns);
std::string compact_utc(std::int64_t wall_ns);

}  // namespace lockmark
