#include "harness/check/handoff.hpp"

namespace lockmark::check {

void handoffs::advance(key_state& k, std::int64_t at_ns) {
  if (at_ns <= k.last_event_ns) return;
  const std::int64_t passed_ns = at_ns - k.last_event_ns;
  if (k.holder != none) {
    times_.held_ns += passed_ns;
  } else if (k.waiters > 0) {
    times_.idle_while_wanted_ns += passed_ns;
  }
  k.last_event_ns = at_ns;
}

handoffs::key_state& handoffs::advance(const event& e) {
  key_state& k = keys_[e.key];
  advance(k, e.at_ns);
  return k;
}

key_times handoffs::times(std::int64_t until_ns) {
  for (key_state& k : keys_) advance(k, until_ns);
  return times_;
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
  return h;
}

void handoffs::released(const event& e) {
  key_state& k = advance(e);
  k.released_ns = e.at_ns;
  k.waiters_at_release = k.waiters;
  k.last_holder = e.client;
  k.orphaned = false;
  if (k.holder == e.client) k.holder = none;
}

void handoffs::died(const event& e) {
  const bool was_last_granted = keys_[e.key].holder == e.client;
  released(e);
  keys_[e.key].orphaned = was_last_granted;
}

}  // namespace lockmark::check
