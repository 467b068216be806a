#include "drivers/memory/key_lock.hpp"

#include <algorithm>
#include <utility>

namespace lockmark::memory {

void waiter::ring(loop& from) {
  if (&from == &home) return bell.set();
  home.post([this] { bell.set(); });
}

std::optional<grant> key_lock::try_take(owner who, duration lease, time_point now, bool reentrant) {
  const std::lock_guard guard(mutex_);
  ++calls_;
  if (held(now)) {
    if (!reentrant || holder_ != who) return std::nullopt;
    ++depth_;
    return hold(who, lease, now);
  }
  if (!line_.empty()) return std::nullopt;
  depth_ = 1;
  return hold(who, lease, now);
}

waiter* key_lock::join(waiter& w, time_point now) {
  const std::lock_guard guard(mutex_);
  w.place = line_.insert(line_.end(), &w);
  waiter* const first = held(now) ? nullptr : pass_on(now);
  w.looks_again = std::min(w.deadline, runs_out_);
  return first;
}

key_lock::look key_lock::look_again(waiter& w, bool was_rung, time_point now) {
  const std::lock_guard guard(mutex_);
  if (was_rung) w.ringing = false;
  look seen;
  if (!w.granted && !held(now)) seen.to_ring = pass_on(now);
  if (w.granted) {
    seen.over = true;
    if (seen.to_ring == nullptr) seen.to_ring = oversleeper();
  } else if (now >= w.deadline) {
    line_.erase(w.place);
    seen.over = true;
  }
  w.looks_again = std::min(w.deadline, runs_out_);
  return seen;
}

key_lock::change key_lock::extend(owner who, duration lease, time_point now) {
  const std::lock_guard guard(mutex_);
  ++calls_;
  if (!held(now) || holder_ != who) return {};
  runs_out_ = now + lease;
  return {grant{token_, runs_out_}, oversleeper()};
}

key_lock::change key_lock::give_back(owner who, time_point now) {
  const std::lock_guard guard(mutex_);
  ++calls_;
  if (!held(now) || holder_ != who) return {};
  const grant was{token_, runs_out_};
  return {was, --depth_ == 0 ? pass_on(now) : nullptr};
}

waiter* key_lock::give_back_for(const void* session, time_point now) {
  const std::lock_guard guard(mutex_);
  return holder_.session == session ? pass_on(now) : nullptr;
}

void key_lock::reset() {
  const std::lock_guard guard(mutex_);
  holder_ = {};
}

std::uint64_t key_lock::calls() {
  const std::lock_guard guard(mutex_);
  return calls_;
}

grant key_lock::hold(owner who, duration lease, time_point now) {
  holder_ = who;
  runs_out_ = now + lease;
  return {++token_, runs_out_};
}

// Hands the key to the first in line, if there is one, rather than letting it compete: this is
// what makes the lock fair. A ring that is under way is not repeated: once it has arrived, the
// waiter may be gone.
waiter* key_lock::pass_on(time_point now) {
  holder_ = {};
  if (line_.empty()) return nullptr;
  waiter* const first = line_.front();
  line_.pop_front();
  depth_ = 1;
  first->granted = hold(first->who, first->lease, now);
  return std::exchange(first->ringing, true) ? nullptr : first;
}

// The first in line, if it sleeps past the end of the present hold: leases may differ.
waiter* key_lock::oversleeper() {
  if (line_.empty()) return nullptr;
  waiter* const first = line_.front();
  if (first->ringing || first->looks_again <= runs_out_) return nullptr;
  first->ringing = true;
  return first;
}

}  // namespace lockmark::memory
