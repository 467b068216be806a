#include "harness/time/thread.hpp"

#include <sys/prctl.h>

#include <cerrno>
#include <ctime>

namespace lockmark {

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

}  // namespace lockmark
