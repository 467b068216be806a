#include "harness/async/loop.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "harness/async/signal.hpp"

namespace lockmark {

loop::loop(const real_clock& clock) : clock_(clock), context_(1), alarm_(context_) {}

loop::loop(simulated_clock& clock)
    : clock_(clock), simulated_(&clock), context_(1), alarm_(context_) {}

void loop::run() {
  if (simulated_ != nullptr) return run_simulated();
  const auto keep_alive = asio::make_work_guard(context_);
  while (live_tasks_ > 0) {
    context_.restart();
    ++turn_;
    context_.run_one();
  }
}

void loop::run_simulated() {
  while (live_tasks_ > 0) {
    context_.restart();
    ++turn_;
    if (context_.poll_one() > 0) continue;
    const auto next = timers_.earliest();
    if (!next) throw std::logic_error("every task waits for something that will never happen");
    simulated_->advance_to(*next);
    timers_.fire_due(now());
  }
}

task<void> loop::sleep_until(time_point when) {
  signal never{*this};
  co_await never.wait_until(when);
}

task<bool> loop::yield() {
  return asio::async_initiate<const asio::use_awaitable_t<executor>, void(bool)>(
      [](resumption r, loop* here) { here->resume(std::move(r), true); }, use_task, this);
}

void loop::resume(resumption parked, bool value) {
  ready_.emplace_back(std::move(parked), value);
  if (std::exchange(posted_, true)) return;
  post([this] {
    posted_ = false;
    run_ready();
  });
}

// Coroutines that become ready meanwhile wait for the next round, so that sockets get their turn
// too. Those that are ready together run in random order: no client shall be the first to hear of a
// release because its connection is the oldest. Simulated runs stay the same every time.
void loop::run_ready() {
  running_.swap(ready_);
  order_.resize(running_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  if (simulated_ == nullptr && order_.size() > 1) std::ranges::shuffle(order_, random_);
  for (const std::uint32_t next : order_) {
    ++turn_;
    std::move(running_[next].first)(running_[next].second);
  }
  running_.clear();
}

void loop::add_timer(timer& t, time_point when) {
  timers_.add(t, when);
  if (simulated_ == nullptr && (!alarm_at_ || when < *alarm_at_)) arm(when);
}

// The alarm stays armed when its timer is removed: one spurious wake-up is cheaper than re-arming
// the kernel for every command that is answered in time.
void loop::arm(time_point when) {
  alarm_at_ = when;
  alarm_.expires_at(when);
  alarm_.async_wait([this](const std::error_code& error) {
    if (error) return;
    alarm_at_.reset();
    timers_.fire_due(now());
    const auto next = timers_.earliest();
    if (next && (!alarm_at_ || *next < *alarm_at_)) arm(*next);
  });
}

}  // namespace lockmark
