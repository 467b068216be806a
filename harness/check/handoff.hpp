// How a key goes from one holder to the next: hand-off, idle time, utilisation.
//
// A hand-off runs from the sending of a release to the next grant of that key. It is a *transfer*
// when the owner changed while another client was already waiting, a *self-reacquire* when the same
// client took the key again; a grant without a waiter is neither. After a holder's death it is none
// of these: the key was *orphaned* until its lease or session expired.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/check/history.hpp"

namespace lockmark::check {

enum class handoff_kind : std::uint8_t { first, transfer, self_reacquire, idle, orphaned };

struct handoff {
  handoff_kind kind = handoff_kind::first;
  std::int64_t took_ns = 0;
};

// Sums over keys.
struct key_times {
  std::int64_t held_ns = 0;               // with a holder
  std::int64_t idle_while_wanted_ns = 0;  // with a waiter and no holder
};

class handoffs {
 public:
  // `clocks_differ`: a grant may seem earlier than the release that it follows, and then gives no
  // hand-off.
  explicit handoffs(std::size_t keys, bool clocks_differ = false)
      : keys_(keys), clocks_differ_(clocks_differ) {}

  void began(const event& e);
  void ended(const event& e);
  handoff granted(const event& e);
  void released(const event& e);
  void died(const event& e);

  // Up to `until_ns`. REQUIRES: no event before `until_ns` will follow.
  key_times times(std::int64_t until_ns);

 private:
  static constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);
  struct key_state {
    std::int64_t last_event_ns = 0;
    std::int64_t released_ns = 0;
    std::uint32_t waiters = 0;
    std::uint32_t waiters_at_release = 0;
    std::uint32_t holder = none;
    std::uint32_t last_holder = none;
    bool orphaned = false;  // the last holder died
  };
  key_state& advance(const event& e);
  void advance(key_state& k, std::int64_t at_ns);

  std::vector<key_state> keys_;
  const bool clocks_differ_;
  key_times times_;
};

}  // namespace lockmark::check
