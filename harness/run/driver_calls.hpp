// Driver calls that a run makes itself, outside its load: none of them can hold it up.
//
// Every driver call has a deadline, and a driver that keeps its contract ends by then. A call that
// does not is abandoned some time later, and reported by an exception.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "harness/async/scope.hpp"

namespace lockmark::run {

// A call did not end: one sentence with the name of the call.
struct stuck_call : std::runtime_error {
  using runtime_error::runtime_error;
};

// "wipe of redis/lua did not end within 10000 ms of its deadline; ..."
inline std::string stuck_sentence(std::string_view what, std::string_view lock, duration patience) {
  return fmt::format(
      "{} of {} did not end within {} ms of its deadline; this is a defect of its driver", what,
      lock, std::chrono::duration_cast<std::chrono::milliseconds>(patience).count());
}

class driver_calls {
 public:
  // `lock`: its name, for the sentence. `patience`: for this long after its deadline a call may
  // mean a busy machine; after that, a defect of its driver.
  driver_calls(loop& l, std::string lock, duration patience)
      : loop_(l), lock_(std::move(lock)), patience_(patience), calls_(l) {}

  // Returns or throws the result of the call. Throws stuck_call if it has not ended by `by` plus
  // the patience. `what`: the call's name.
  template <class T>
  task<T> wait_for(task<T> call, time_point by, std::string what) {
    auto mine = std::make_shared<pending<T>>(loop_);
    ++under_way_;
    calls_.spawn(carry<T>(mine, std::move(call)));
    bool ended = co_await mine->ended.wait_until(by + patience_ / 2);
    // From now: after a pause of the whole process the call has to have its time, too.
    if (!ended) ended = co_await mine->ended.wait_until(loop_.now() + patience_ / 2);
    if (!ended) throw stuck_call(sentence(what));
    if (mine->failure) std::rethrow_exception(mine->failure);
    if constexpr (!std::is_void_v<T>) co_return std::move(*mine->value);
  }

  std::string sentence(std::string_view what) const {
    return stuck_sentence(what, lock_, patience_);
  }

  duration patience() const { return patience_; }
  // Whether an abandoned call is still in progress.
  bool any_left() const { return under_way_ > 0; }
  // Waits for the abandoned calls to end. REQUIRED before destruction.
  task<void> join() { return calls_.join(); }

 private:
  template <class T>
  struct pending {
    explicit pending(loop& l) : ended(l) {}
    signal ended;
    std::exception_ptr failure;
    std::optional<std::conditional_t<std::is_void_v<T>, std::monostate, T>> value;
  };

  template <class T>
  task<void> carry(std::shared_ptr<pending<T>> mine, task<T> call) {
    try {
      if constexpr (std::is_void_v<T>) {
        co_await std::move(call);
      } else {
        mine->value.emplace(co_await std::move(call));
      }
    } catch (...) {
      mine->failure = std::current_exception();
    }
    --under_way_;
    mine->ended.set();
  }

  loop& loop_;
  const std::string lock_;
  const duration patience_;
  scope calls_;
  int under_way_ = 0;
};

}  // namespace lockmark::run
