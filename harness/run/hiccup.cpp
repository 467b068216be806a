#include "harness/run/hiccup.hpp"

#include <algorithm>

#include "harness/time/clock.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

constexpr duration shortest_period = 1ms;
constexpr duration longest_period = 5ms;
constexpr std::int64_t enough_beats = 10'000;
constexpr duration least_sleep = 10ms;  // the two clocks are read one after the other
constexpr std::size_t most_listed = 1000;

}  // namespace

duration hiccup_period(duration least_window) {
  return std::clamp(least_window / enough_beats, shortest_period, longest_period);
}

hiccup_count::hiccup_count(time_point first, duration period, const window& w)
    : window_(w), period_(period), beat_(first, period) {}

void hiccup_count::awake(time_point now, std::int64_t suspended_ns) {
  const time_point due = beat_.next();
  if (now < due) return;
  const duration late = now - due;
  if (window_.contains(to_ns(due))) {
    // A stall that is shorter than the period meets a beat with a chance of its length / period;
    // one that does stands for as many as that takes (Horvitz-Thompson).
    const auto stands_for = period_ / std::clamp(late, shortest_period, period_);
    seen_.by_wake.record(late.count(), stands_for);
  }
  if (late >= least_freeze && seen_.freezes.size() < most_listed) {
    seen_.freezes.push_back({to_ns(due), late.count(), 0});
  }
  beat_.strike(now, [this](time_point at, duration by, std::int64_t beats) {
    if (window_.contains(to_ns(at))) seen_.by_beat.record(by.count(), beats);
  });
  const std::int64_t slept_ns = suspended_ns - suspended_ns_.value_or(suspended_ns);
  suspended_ns_ = suspended_ns;
  if (slept_ns >= least_sleep.count() && seen_.asleep.size() < most_listed) {
    seen_.asleep.push_back({to_ns(due), slept_ns, 0});
  }
}

hiccup_meter::hiccup_meter(const real_clock& clock, duration period, const window& w)
    : clock_(clock), count_(clock.now() + period, period, w), thread_([this] { measure(); }) {}

void hiccup_meter::stop() {
  stopping_.store(true, std::memory_order_relaxed);
  if (thread_.joinable()) thread_.join();
}

void hiccup_meter::measure() {
  punctual_thread();
  while (!stopping_.load(std::memory_order_relaxed)) {
    block_until(count_.next());
    count_.awake(clock_.now(), suspended_so_far_ns());
  }
}

}  // namespace lockmark::run
