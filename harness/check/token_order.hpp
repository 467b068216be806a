// Fencing tokens must grow with every grant of a key; otherwise the resource cannot tell old from
// new.
//
// Clients that hold a key at once may learn of their grants in any order, whatever the server's
// was. So where several may hold, a token need only exceed those that were known when its request
// began. And where the clocks of two holders differ, a grant is only known to be later than another
// if it is later by more than that.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "harness/check/clock_errors.hpp"
#include "harness/check/history.hpp"

namespace lockmark::check {

class token_order {
 public:
  // `holders`: how many clients may hold a key at once; 0: any number. `clocks`: theirs; null: they
  // share one.
  token_order(std::size_t keys, std::size_t clients, std::uint32_t holders,
              const clock_errors* clocks = nullptr)
      : last_(keys), known_(holders == 1 ? 0 : clients), clocks_(clocks) {}

  void began(const event& e) {
    if (!known_.empty()) known_[e.client] = last_[e.key];
  }

  // Tokens begin at 1. A key whose grants carry none (0) has no order to check: a user's lock
  // client may or may not have tokens.
  void granted(const event& e) {
    seen& last = last_[e.key];
    const seen& before = known_.empty() ? last : known_[e.client];
    if (e.token == 0 && before.token == 0) return;
    if (e.token <= before.token && is_later(e, before)) ++stale_;
    if (e.token > last.token) last = {e.token, e.at_ns, e.client};
  }

  // Grants whose token was too low.
  std::uint64_t stale() const { return stale_; }

 private:
  // The grant with the highest token so far.
  struct seen {
    std::uint64_t token = 0;
    std::int64_t at_ns = 0;
    std::uint32_t client = 0;
  };

  bool is_later(const event& e, const seen& s) const {
    const std::int64_t error_ns = error_between(clocks_, e.client, s.client, e.at_ns);
    return error_ns == 0 || e.at_ns - s.at_ns > error_ns;
  }

  std::vector<seen> last_;   // by key
  std::vector<seen> known_;  // by client, when its request began; empty: one may hold
  const clock_errors* clocks_;
  std::uint64_t stale_ = 0;
};

}  // namespace lockmark::check
