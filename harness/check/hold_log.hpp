// Who held one key from when to when, for a picture: the first holds of the measured window on the
// first key that changes hands in it, and the holds around the first violation.
//
// Keeps some hundred holds, however long the run is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "harness/check/hold.hpp"

namespace lockmark::check {

struct holds_of_key {
  std::uint32_t key = 0;
  std::vector<hold> holds;  // in order of their ends
  // When two held the key for certain: from, to.
  std::vector<std::pair<std::int64_t, std::int64_t>> overlaps;
};

class hold_log {
 public:
  static constexpr std::size_t most = 200;  // holds of a picture

  // The window begins: earlier holds are not among the first.
  void begin(std::int64_t at_ns);
  // The key went from one client to another.
  void handed_over(std::uint32_t key);
  // In order of their ends.
  void ended(std::uint32_t key, const hold& h);
  // For certain; its holds have ended.
  void violated(const violation& v);

  // Without holds if no key changed hands.
  const holds_of_key& first() const { return first_; }
  // Half of them before the first violation was certain. Without holds if there was none, or the
  // first ones show it.
  holds_of_key at_violation() const;

 private:
  struct of_key {
    std::uint32_t key = 0;
    hold held;
  };

  void copy_recent(holds_of_key& to, std::int64_t from_ns, std::size_t at_most) const;
  bool shows(const hold& h) const;

  std::vector<of_key> recent_;  // a ring
  std::size_t oldest_ = 0;
  std::int64_t begin_ns_ = 0;
  bool has_begun_ = false;
  bool has_first_ = false;
  bool has_violation_ = false;
  holds_of_key first_;
  holds_of_key at_violation_;
  violation violation_;
};

}  // namespace lockmark::check
