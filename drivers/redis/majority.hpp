// The combined meaning of several places' answers to one question, apart from the places.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::redis {

constexpr std::size_t majority_of(std::size_t places) {
  return places / 2 + 1;
}

// The result of asking one place.
enum class vote : std::uint8_t {
  yes,
  no,
  unasked,  // not reached: certainly not done there
  lost,     // asked, and the connection broke: nobody can know
  late,     // asked, and not answered in time: nobody can know
};

template <class T>
vote vote_of(const outcome<T>& said, bool is_yes) {
  if (said.done()) return is_yes ? vote::yes : vote::no;
  if (said.refused()) return said.refused(refusal::not_owner) ? vote::no : vote::unasked;
  return said.why_in_doubt() == doubt::deadline ? vote::late : vote::lost;
}

// The votes of all places, counted.
struct answers {
  explicit answers(const std::vector<vote>& all) {
    for (const vote v : all) {
      switch (v) {
        case vote::yes: ++yes; break;
        case vote::no: ++no; break;
        case vote::unasked: ++unasked; break;
        case vote::late: why = doubt::deadline; [[fallthrough]];
        case vote::lost: ++unknown; break;
      }
    }
  }

  std::size_t all() const { return yes + no + unasked + unknown; }

  std::size_t yes = 0;
  std::size_t no = 0;
  std::size_t unasked = 0;
  std::size_t unknown = 0;
  doubt why = doubt::connection_lost;  // why some are unknown
};

// The outcome of a release or renewal that at least `needed` places must have done.
inline outcome<nothing> ending_of(const answers& a, std::size_t needed) {
  if (a.yes >= needed) return nothing{};
  const bool cannot_be_had = a.all() - a.no < needed;
  if (cannot_be_had) return refusal::not_owner;
  if (a.unknown > 0) return a.why;
  return refusal::unavailable;
}

// Whether a place that was asked to take the key may have done so.
constexpr bool may_be_taken(vote taking) {
  return taking == vote::yes || taking == vote::lost || taking == vote::late;
}

// The number of places where the key may still be taken, after each was asked to take it and then
// to undo that.
inline std::size_t left_over(const std::vector<vote>& taking, const std::vector<vote>& undoing) {
  std::size_t left = 0;
  for (std::size_t i = 0; i < taking.size(); ++i) {
    const bool is_gone = undoing[i] == vote::yes || undoing[i] == vote::no;
    if (may_be_taken(taking[i]) && !is_gone) ++left;
  }
  return left;
}

// Whether `left` places that are still taken keep everybody else from `needed` of all.
constexpr bool keeps_others_out(std::size_t left, std::size_t all, std::size_t needed) {
  return left > all - needed;
}

// The outcome of an attempt that asked each place and was not granted. The key may still be taken
// in `left` places; `needed` of them make a lock. In doubt only if these keep others out.
inline outcome<grant> ending_of_failure(const answers& taking, std::size_t left,
                                        std::size_t needed) {
  if (keeps_others_out(left, taking.all(), needed)) return taking.why;
  const bool too_late = taking.yes >= needed;
  const bool too_few = taking.yes + taking.no < needed;
  if (too_late || too_few) return refusal::unavailable;
  return refusal::busy;
}

// Redlock's rules of time. Source: Redis's page on distributed locks. Its clients assume a clock
// drift of a hundredth of the lease, plus 2 ms for the servers' precision.
constexpr duration drift_of(duration lease) {
  return lease / 100 + std::chrono::milliseconds{2};
}

// The time until which a majority first asked at `asked` certainly has the lock.
constexpr time_point valid_until(time_point asked, duration lease) {
  return asked + lease - drift_of(lease);
}

}  // namespace lockmark::redis
