#include "drivers/memory/place_queue.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace lockmark::memory {

std::optional<grant> place_queue::try_take(owner who, std::uint32_t places, duration lease,
                                           time_point now) {
  const std::lock_guard guard(mutex_);
  ++calls_;
  std::erase_if(inside_, [&](const hold& h) { return h.runs_out <= now; });
  if (!line_.empty() || free_places() < places) return std::nullopt;
  return let_in(who, places, lease, now);
}

place_queue::rings place_queue::join(place_waiter& v, time_point now) {
  const std::lock_guard guard(mutex_);
  v.in_line = line_.insert(line_.end(), &v);
  rings to_ring = settle(now);
  v.looks_again = std::min(v.deadline, next_to_run_out());
  return to_ring;
}

place_queue::look place_queue::look_again(place_waiter& v, bool was_rung, time_point now) {
  const std::lock_guard guard(mutex_);
  if (was_rung) v.ringing = false;
  look seen;
  if (!v.granted && now >= v.deadline) {
    line_.erase(v.in_line);
    seen.over = true;
  }
  seen.to_ring = settle(now);
  if (v.granted) seen.over = true;
  v.looks_again = std::min(v.deadline, next_to_run_out());
  return seen;
}

place_queue::change place_queue::extend(owner who, duration lease, time_point now) {
  const std::lock_guard guard(mutex_);
  ++calls_;
  const auto mine = latest_of(who, now);
  if (mine == inside_.end()) return {};
  mine->runs_out = now + lease;
  const grant held{mine->token, mine->runs_out};
  return {held, settle(now)};
}

place_queue::change place_queue::give_back(owner who, time_point now) {
  const std::lock_guard guard(mutex_);
  ++calls_;
  const auto mine = latest_of(who, now);
  if (mine == inside_.end()) return {};
  const grant held{mine->token, mine->runs_out};
  inside_.erase(mine);
  return {held, settle(now)};
}

place_queue::rings place_queue::give_back_for(const void* session, time_point now) {
  const std::lock_guard guard(mutex_);
  std::erase_if(inside_, [&](const hold& h) { return h.who.session == session; });
  return settle(now);
}

void place_queue::reset() {
  const std::lock_guard guard(mutex_);
  inside_.clear();
}

std::uint64_t place_queue::calls() {
  const std::lock_guard guard(mutex_);
  return calls_;
}

std::uint32_t place_queue::free_places() const {
  std::uint32_t taken = 0;
  for (const hold& h : inside_) taken += h.places;
  return places_ - taken;
}

time_point place_queue::next_to_run_out() const {
  time_point first = time_point::max();
  for (const hold& h : inside_) first = std::min(first, h.runs_out);
  return first;
}

grant place_queue::let_in(owner who, std::uint32_t places, duration lease, time_point now) {
  inside_.push_back({who, places, ++token_, now + lease});
  return {token_, now + lease};
}

// Lets in from the head of the line whoever fits, and wakes the first who does not, if it sleeps
// past the end of a hold: leases may differ. A ring that is under way is not repeated, because who
// is rung may be gone once it has arrived.
place_queue::rings place_queue::settle(time_point now) {
  std::erase_if(inside_, [&](const hold& h) { return h.runs_out <= now; });
  rings to_ring;
  const auto ring = [&](place_waiter* v) {
    if (!std::exchange(v->ringing, true)) to_ring.push_back(v);
  };
  while (!line_.empty() && line_.front()->places <= free_places()) {
    place_waiter* const first = line_.front();
    line_.pop_front();
    first->granted = let_in(first->who, first->places, first->lease, now);
    ring(first);
  }
  if (!line_.empty() && line_.front()->looks_again > next_to_run_out()) ring(line_.front());
  return to_ring;
}

std::vector<place_queue::hold>::iterator place_queue::latest_of(owner who, time_point now) {
  const auto found = std::find_if(inside_.rbegin(), inside_.rend(),
                                  [&](const hold& h) { return h.who == who && now < h.runs_out; });
  return found == inside_.rend() ? inside_.end() : std::prev(found.base());
}

std::shared_ptr<std::vector<place_queue>> queues_of(const names& run, std::uint32_t places) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::uint32_t>, std::weak_ptr<std::vector<place_queue>>>
      known;
  const std::lock_guard guard(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  auto& kept = known[{run.run, places}];
  if (auto queues = kept.lock(); queues && queues->size() == run.keys.size()) return queues;
  const auto fresh = std::make_shared<std::vector<place_queue>>(run.keys.size());
  for (place_queue& r : *fresh) r.set_places(places);
  kept = fresh;
  return fresh;
}

}  // namespace lockmark::memory
