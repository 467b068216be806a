// Fencing tokens must grow with every grant of a key; otherwise the resource cannot tell old from
// new.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/check/history.hpp"

namespace lockmark::check {

class token_order {
 public:
  explicit token_order(std::size_t keys) : last_(keys) {}

  // Tokens begin at 1. A key whose grants carry none (0) has no order to check: a user's lock
  // client may or may not have tokens.
  void granted(const event& e) {
    if (e.token == 0 && last_[e.key] == 0) return;
    if (e.token <= last_[e.key]) {
      ++stale_;
    } else {
      last_[e.key] = e.token;
    }
  }

  // Grants whose token was not higher than all earlier ones of its key.
  std::uint64_t stale() const { return stale_; }

 private:
  std::vector<std::uint64_t> last_;
  std::uint64_t stale_ = 0;
};

}  // namespace lockmark::check
