// The grants of a run with faults: of which key, since when it was wanted, and when it was given
// back. Kept whole, because which of them a fault concerns is known only afterwards: 40 bytes each.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/check/aftermath.hpp"
#include "harness/check/history.hpp"

namespace lockmark::check {

// Events in order of time. One thread.
class grant_log {
 public:
  grant_log(std::size_t keys, std::size_t clients) : keys_(keys), last_of_client_(clients, none) {}

  void began(const event& e);
  void ended(const event& e);
  // Or committed.
  void granted(const event& e);
  // Or died.
  void released(const event& e);

  const std::vector<grant_stamp>& grants() const { return grants_; }
  std::vector<unserved_key> unserved() const;

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  static constexpr std::int64_t never = -1;
  struct key_demand {
    std::int64_t wanted_ns = never;  // first asked for since its last grant, even if in vain
    std::uint32_t waiters = 0;
  };

  std::vector<key_demand> keys_;
  std::vector<std::size_t> last_of_client_;  // its last grant: where in grants_
  std::vector<grant_stamp> grants_;
};

}  // namespace lockmark::check
