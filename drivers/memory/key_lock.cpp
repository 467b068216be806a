#include "drivers/memory/key_lock.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace lockmark::memory {

void waiter::ring(loop& from) {
  if (&from == &home) return bell.set();
  home.post([this] { bell.set(); });
}

void rings::add(waiter& w) {
  w.rung_next = nullptr;
  (last_ == nullptr ? first_ : last_->rung_next) = &w;
  last_ = &w;
}

inline grant key_lock::let_in(owner who, std::uint32_t places, duration lease, time_point now) {
  inside_.push_back({who, places, ++token_, now + lease});
  return {token_, now + lease};
}

inline key_lock::hold* key_lock::latest_of(owner who, time_point now) {
  for (auto h = inside_.end(); h != inside_.begin();) {
    --h;
    if (h->who == who && now < h->runs_out) return &*h;
  }
  return nullptr;
}

std::optional<grant> key_lock::try_take(owner who, std::uint32_t places, duration lease,
                                        time_point now, bool reentrant) {
  const std::lock_guard guard(mutex_);
  ++calls_;
  if (!inside_.empty() || !line_.empty()) {
    std::erase_if(inside_, [&](const hold& h) { return h.runs_out <= now; });
    if (hold* const mine = reentrant ? latest_of(who, now) : nullptr) {
      ++mine->depth;
      mine->token = ++token_;
      mine->runs_out = now + lease;
      return grant{mine->token, mine->runs_out};
    }
    if (!line_.empty() || free_places() < places) return std::nullopt;
  }
  return let_in(who, places, lease, now);
}

void key_lock::join(waiter& w, time_point now, rings& to_ring) {
  const std::lock_guard guard(mutex_);
  w.in_line = line_.insert(line_.end(), &w);
  settle(now, to_ring);
  w.looks_again = std::min(w.deadline, next_to_run_out());
}

bool key_lock::look_again(waiter& w, bool was_rung, time_point now, rings& to_ring) {
  const std::lock_guard guard(mutex_);
  if (was_rung) w.ringing = false;
  settle(now, to_ring);
  const bool gives_up = !w.granted && now >= w.deadline;
  if (gives_up) {
    line_.erase(w.in_line);
    settle(now, to_ring);  // for the waiters behind it
  }
  w.looks_again = std::min(w.deadline, next_to_run_out());
  return w.granted || gives_up;
}

std::optional<grant> key_lock::extend(owner who, duration lease, time_point now, rings& to_ring) {
  const std::lock_guard guard(mutex_);
  ++calls_;
  hold* const mine = latest_of(who, now);
  if (mine == nullptr) return std::nullopt;
  mine->runs_out = now + lease;
  const grant held{mine->token, mine->runs_out};
  settle(now, to_ring);
  return held;
}

bool key_lock::give_back(owner who, time_point now, rings& to_ring) {
  const std::lock_guard guard(mutex_);
  ++calls_;
  hold* const mine = latest_of(who, now);
  if (mine == nullptr) return false;
  if (--mine->depth == 0) inside_.erase(inside_.begin() + (mine - inside_.data()));
  settle(now, to_ring);
  return true;
}

void key_lock::give_back_for(const void* session, time_point now, rings& to_ring) {
  const std::lock_guard guard(mutex_);
  std::erase_if(inside_, [&](const hold& h) { return h.who.session == session; });
  settle(now, to_ring);
}

void key_lock::reset() {
  const std::lock_guard guard(mutex_);
  inside_.clear();
}

std::uint64_t key_lock::calls() {
  const std::lock_guard guard(mutex_);
  return calls_;
}

std::uint32_t key_lock::free_places() const {
  std::uint32_t taken = 0;
  for (const hold& h : inside_) taken += h.places;
  return places_ - taken;
}

time_point key_lock::next_to_run_out() const {
  time_point first = time_point::max();
  for (const hold& h : inside_) first = std::min(first, h.runs_out);
  return first;
}

// Lets in waiters from the head of the line while they fit, rather than letting them compete: this
// makes the lock fair. Wakes the first that does not fit if it sleeps past the end of a hold:
// leases may differ. A ring that is under way is not repeated: once it has arrived, the waiter may
// be gone.
void key_lock::serve_line(time_point now, rings& to_ring) {
  std::erase_if(inside_, [&](const hold& h) { return h.runs_out <= now; });
  const auto ring = [&](waiter* w) {
    if (!std::exchange(w->ringing, true)) to_ring.add(*w);
  };
  while (!line_.empty() && line_.front()->places <= free_places()) {
    waiter* const first = line_.front();
    line_.pop_front();
    first->granted = let_in(first->who, first->places, first->lease, now);
    ring(first);
  }
  if (!line_.empty() && line_.front()->looks_again > next_to_run_out()) ring(line_.front());
}

key_locks new_keys(std::size_t count, std::uint32_t places) {
  auto fresh = std::make_shared<std::vector<key_lock>>(count);
  for (key_lock& key : *fresh) key.set_places(places);
  return fresh;
}

key_locks keys_of(const names& run, std::uint32_t places) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::uint32_t>, std::weak_ptr<std::vector<key_lock>>>
      known;
  const std::lock_guard guard(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  auto& kept = known[{run.run, places}];
  if (auto keys = kept.lock(); keys && keys->size() == run.keys.size()) return keys;
  key_locks fresh = new_keys(run.keys.size(), places);
  kept = fresh;
  return fresh;
}

}  // namespace lockmark::memory
