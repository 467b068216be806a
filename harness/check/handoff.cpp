#include "harness/check/handoff.hpp"

namespace lockmark::check {

void handoffs::idle_until(key_state& k, std::int64_t at_ns) {
  if (at_ns <= k.last_event_ns) return;
  if (k.waiters > 0 && k.holder == none) idle_while_wanted_ns_ += at_ns - k.last_event_ns;
  k.last_event_ns = at_ns;
}

handoffs::key_state& handoffs::advance(const event& e) {
  key_state& k = keys_[e.key];
  idle_until(k, e.at_ns);
  return k;
}

std::int64_t handoffs::idle_while_wanted_ns(std::int64_t until_ns) {
  for (key_state& k : keys_) idle_until(k, until_ns);
  return idle_while_wanted_ns_;
}

void handoffs::began(const event& e) {
  ++advance(e).waiters;
}

void handoffs::ended(const event& e) {
  key_state& k = advance(e);
  if (k.waiters > 0) --k.waiters;
}

handoff handoffs::granted(const event& e) {
  key_state& k = advance(e);
  if (k.waiters > 0) --k.waiters;
  handoff h;
  const bool is_too_early = clocks_differ_ && k.holder != none && k.holder != e.client;
  if (k.last_holder != none && !is_too_early) {
    h.took_ns = e.at_ns - k.released_ns;
    if (k.orphaned) {
      h.kind = handoff_kind::orphaned;
    } else if (k.last_holder == e.client) {
      h.kind = handoff_kind::self_reacquire;
    } else {
      h.kind = k.waiters_at_release > 0 ? handoff_kind::transfer : handoff_kind::idle;
    }
  }
  k.orphaned = false;
  k.holder = e.client;
  k.granted_ns = e.at_ns;
  return h;
}

std::int64_t handoffs::released(const event& e) {
  key_state& k = advance(e);
  const std::int64_t held_ns = e.at_ns - k.granted_ns;
  k.released_ns = e.at_ns;
  k.waiters_at_release = k.waiters;
  k.last_holder = e.client;
  k.orphaned = false;
  if (k.holder == e.client) k.holder = none;
  return held_ns;
}

std::int64_t handoffs::died(const event& e) {
  const bool was_last_granted = keys_[e.key].holder == e.client;
  const std::int64_t held_ns = released(e);
  keys_[e.key].orphaned = was_last_granted;
  return held_ns;
}

}  // namespace lockmark::check
