#include "harness/time/clock.hpp"

#include <sys/prctl.h>
#include <sys/timex.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>

namespace lockmark {
namespace {

std::int64_t read_ns(clockid_t which) {
  timespec t{};
  clock_gettime(which, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

std::string format_utc(std::int64_t wall_ns, const char* pattern) {
  const std::time_t seconds = wall_ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, pattern, &parts)};
}

}  // namespace

std::int64_t thread_cpu_ns() {
  return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

std::int64_t process_cpu_ns() {
  return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

std::int64_t process_cpu_ns(pid_t process) {
  clockid_t its = CLOCK_PROCESS_CPUTIME_ID;
  timespec used{};
  if (clock_getcpuclockid(process, &its) != 0 || clock_gettime(its, &used) != 0) return 0;
  return used.tv_sec * 1'000'000'000 + used.tv_nsec;
}

std::int64_t suspended_so_far_ns() {
  return read_ns(CLOCK_BOOTTIME) - read_ns(CLOCK_MONOTONIC);
}

void punctual_thread() {
  prctl(PR_SET_TIMERSLACK, 1UL);
}

void block_until(time_point when) {
  const std::int64_t ns = to_ns(when);
  timespec t{};
  t.tv_sec = ns / 1'000'000'000;
  t.tv_nsec = ns % 1'000'000'000;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == EINTR) {
  }
}

std::int64_t wall_time_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

double clock_slew_ppm() {
  timex now{};
  if (::adjtimex(&now) < 0) return 0;
  constexpr double usual_tick_us = 10'000;  // at 100 ticks a second, whatever the kernel's own rate
  const double by_tick = (static_cast<double>(now.tick) - usual_tick_us) / usual_tick_us * 1e6;
  const double by_frequency = static_cast<double>(now.freq) / 65'536;
  // What is left of an offset, the kernel takes away exponentially.
  const double left_ns = static_cast<double>(now.offset) * ((now.status & STA_NANO) != 0 ? 1 : 1e3);
  const double by_offset = left_ns / std::exp2(2 + std::clamp(now.constant, 0L, 10L)) / 1e3;
  timex adjtime{};
  adjtime.modes = ADJ_OFFSET_SS_READ;
  const bool slews = ::adjtimex(&adjtime) >= 0 && adjtime.offset != 0;
  return by_tick + by_frequency + by_offset + (slews ? 500 : 0);
}

std::string iso8601_utc(std::int64_t wall_ns) {
  return format_utc(wall_ns, "%Y-%m-%dT%H:%M:%SZ");
}

std::string compact_utc(std::int64_t wall_ns) {
  return format_utc(wall_ns, "%Y%m%d-%H%M%S");
}

}  // namespace lockmark
