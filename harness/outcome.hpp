// How a call to a lock can end: done, certainly not done, or in doubt.
//
// The third outcome is what makes a lock's history checkable: an attempt in doubt may hold the lock
// on the server although its client was never told. Model: Jepsen's ok, fail and info.
#pragma once

#include <cassert>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

namespace lockmark {

// It certainly did not happen.
enum class refusal : std::uint8_t {
  busy,         // another client holds it; polling locks only
  deadline,     // waited for the holder until the deadline; certainly not taken
  not_owner,    // release or renew by a client that does not hold it (any more)
  conflict,     // optimistic locks: another client committed first
  unavailable,  // no server was reachable, or none answered; certainly not taken
};

// Unknown whether it happened.
enum class doubt : std::uint8_t {
  deadline,         // sent, and not answered in time
  connection_lost,  // sent, and the connection broke before the answer
};

constexpr std::string_view name_of(refusal r) {
  switch (r) {
    case refusal::busy: return "busy";
    case refusal::deadline: return "deadline";
    case refusal::not_owner: return "not owner";
    case refusal::conflict: return "conflict";
    case refusal::unavailable: return "unavailable";
  }
  return "?";
}

constexpr std::string_view name_of(doubt d) {
  return d == doubt::deadline ? "doubt: deadline" : "doubt: connection lost";
}

template <class T>
class [[nodiscard]] outcome {
 public:
  outcome(T value) : ending_(std::in_place_index<0>, std::move(value)) {}
  outcome(refusal r) : ending_(std::in_place_index<1>, r) {}
  outcome(doubt d) : ending_(std::in_place_index<2>, d) {}

  bool done() const { return ending_.index() == 0; }
  bool refused() const { return ending_.index() == 1; }
  bool refused(refusal r) const { return refused() && why_refused() == r; }
  bool in_doubt() const { return ending_.index() == 2; }

  // REQUIRES: done().
  const T& value() const { return *get<0>(); }
  // REQUIRES: refused().
  refusal why_refused() const { return *get<1>(); }
  // REQUIRES: in_doubt().
  doubt why_in_doubt() const { return *get<2>(); }

  // The same ending for another type. REQUIRES: not done().
  template <class U>
  outcome<U> without_value() const {
    if (refused()) return why_refused();
    return why_in_doubt();
  }

 private:
  template <std::size_t I>
  const auto* get() const {
    assert(ending_.index() == I);
    return std::get_if<I>(&ending_);
  }

  std::variant<T, refusal, doubt> ending_;
};

// The value of an outcome that carries none.
struct nothing {};

}  // namespace lockmark
