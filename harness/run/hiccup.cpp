#include "harness/run/hiccup.hpp"

#include "harness/time/clock.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

constexpr duration period = 1ms;
constexpr duration least_sleep = 10ms;  // the two clocks are read one after the other
constexpr std::size_t most_listed = 1000;

}  // namespace

hiccup_count::hiccup_count(time_point first, const window& w) : window_(w), beat_(first, period) {}

void hiccup_count::awake(time_point now, std::int64_t suspended_ns) {
  const time_point due = beat_.next();
  if (now < due) return;
  const duration late = now - due;
  if (window_.contains(to_ns(due))) seen_.by_wake.record(late.count());
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

hiccup_meter::hiccup_meter(const real_clock& clock, const window& w)
    : clock_(clock), count_(clock.now() + period, w), thread_([this] { measure(); }) {}

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
