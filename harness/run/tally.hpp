// Counts how the attempts of a run ended.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lockmark::run {

// Every counted attempt ends as exactly one of the first eight.
enum class counter : std::uint8_t {
  granted,            // optimistic: committed
  refused_busy,       // one try, no retry policy
  refused_deadline,   // not granted within the wait time-out
  refused_conflict,   // optimistic: lost to other clients until the wait time-out
  unavailable,        // no server was reachable within the wait time-out
  doubt_deadline,     // sent, never answered
  doubt_lost,         // sent, connection lost
  in_flight_at_end,   // still waiting when the run was over
  dropped,            // open loop: due, but the backlog was full; not an attempt
  tries,              // calls of acquire, including refused ones of polling locks
  release_not_owner,  // the lock was gone when its holder released it
  release_doubt,
  release_unavailable,
  renewals,
  renewals_lost,    // the lease could not be extended: the hold continued without the lock
  renewals_late,    // after the lease could have ended; includes those of a lock's own watchdog
  broken_promises,  // a nested acquire or release that the lock refused
  holds_stopped,    // by a careful holder, before its work was done
};

inline constexpr std::array<std::string_view, 18> counter_names{"granted",
                                                                "refused_busy",
                                                                "refused_deadline",
                                                                "refused_conflict",
                                                                "unavailable",
                                                                "doubt_deadline",
                                                                "doubt_lost",
                                                                "in_flight_at_end",
                                                                "dropped",
                                                                "tries",
                                                                "release_not_owner",
                                                                "release_doubt",
                                                                "release_unavailable",
                                                                "renewals",
                                                                "renewals_lost",
                                                                "renewals_late",
                                                                "broken_promises",
                                                                "holds_stopped"};

class tally {
 public:
  std::uint64_t& operator[](counter c) { return counts_[static_cast<std::size_t>(c)]; }
  std::uint64_t operator[](counter c) const { return counts_[static_cast<std::size_t>(c)]; }

  tally& operator+=(const tally& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    return *this;
  }

  // Attempts that ended without the lock, whatever the reason.
  std::uint64_t not_granted() const { return attempts() - (*this)[counter::granted]; }

  // Attempts whose outcome came from the lock itself.
  std::uint64_t answered() const {
    return (*this)[counter::granted] + (*this)[counter::refused_busy] +
           (*this)[counter::refused_deadline] + (*this)[counter::refused_conflict];
  }

  std::uint64_t attempts() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(counter::in_flight_at_end); ++i) {
      sum += counts_[i];
    }
    return sum;
  }

 private:
  std::array<std::uint64_t, counter_names.size()> counts_{};
};

}  // namespace lockmark::run
