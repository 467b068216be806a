// Fencing tokens must grow with every grant of a key; otherwise the resource cannot tell old from
// new.
//
// Clients that hold a key at once may learn of their grants in any order, whatever the server's
// was. So where several may hold, a token need only exceed those that were known when its request
// began.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "harness/check/history.hpp"

namespace lockmark::check {

class token_order {
 public:
  // `holders`: how many clients may hold a key at once; 0: any number.
  token_order(std::size_t keys, std::size_t clients, std::uint32_t holders)
      : last_(keys), known_(holders == 1 ? 0 : clients) {}

  void began(const event& e) {
    if (!known_.empty()) known_[e.client] = last_[e.key];
  }

  // Tokens begin at 1. A key whose grants carry none (0) has no order to check: a user's lock
  // client may or may not have tokens.
  void granted(const event& e) {
    const std::uint64_t before = known_.empty() ? last_[e.key] : known_[e.client];
    if (e.token == 0 && before == 0) return;
    if (e.token <= before) ++stale_;
    last_[e.key] = std::max(last_[e.key], e.token);
  }

  // Grants whose token was too low.
  std::uint64_t stale() const { return stale_; }

 private:
  std::vector<std::uint64_t> last_;   // by key
  std::vector<std::uint64_t> known_;  // by client, when its request began; empty: one may hold
  std::uint64_t stale_ = 0;
};

}  // namespace lockmark::check
