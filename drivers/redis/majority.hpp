// What the answers of several places to one question mean together, apart from the places.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::redis {

constexpr std::size_t majority_of(std::size_t places) {
  return places / 2 + 1;
}

// What came of asking one place.
enum class vote : std::uint8_t {
  yes,
  no,
  unasked,  // it could not be reached: certainly not done there
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
  explicit answers(const std::vector<vote>& all);

  std::size_t all() const { return yes + no + unasked + unknown; }

  std::size_t yes = 0;
  std::size_t no = 0;
  std::size_t unasked = 0;
  std::size_t unknown = 0;
  doubt why = doubt::connection_lost;  // something is unknown
};

// How a release or renewal ends that at least `needed` places must have done.
outcome<nothing> ending_of(const answers& a, std::size_t needed);

// Whether a place that was asked to take the key may have it.
constexpr bool may_be_taken(vote taking) {
  return taking == vote::yes || taking == vote::lost || taking == vote::late;
}

// In how many places it may still be taken, after each was asked to take it and then to undo that.
std::size_t left_over(const std::vector<vote>& taking, const std::vector<vote>& undoing);

// Whether nobody else can have `needed` of all places while `left` of them are taken.
constexpr bool keeps_others_out(std::size_t left, std::size_t all, std::size_t needed) {
  return left > all - needed;
}

// How an attempt ends that was not granted although each place was asked, and that may have left
// the key taken in `left` places; `needed` of them make a lock. In doubt only if what is left keeps
// others out.
outcome<grant> ending_of_failure(const answers& taking, std::size_t left, std::size_t needed);

// Redlock's rules of time. Source: Redis's page on distributed locks, whose drift of clocks the
// clients take as a hundredth of the lease and, for the precision of servers, 2 ms more.
constexpr duration drift_of(duration lease) {
  return lease / 100 + std::chrono::milliseconds{2};
}

// Until when a majority that was first asked at `asked` is sure to have the lock.
constexpr time_point valid_until(time_point asked, duration lease) {
  return asked + lease - drift_of(lease);
}

}  // namespace lockmark::redis
