// Where one suspended coroutine is kept until it is resumed with a yes or a no.
#pragma once

#include <asio/async_result.hpp>
#include <asio/post.hpp>
#include <cassert>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "harness/async/task.hpp"

namespace lockmark {

// The completion handler lives inside the parking, so that waiting allocates nothing.
class parking {
 public:
  parking() = default;
  parking(const parking&) = delete;
  parking& operator=(const parking&) = delete;
  ~parking() {
    if (occupied()) run_(*this, action::discard, false);
  }

  // Suspends the caller until resume(). REQUIRES: not occupied.
  task<bool> wait() {
    return asio::async_initiate<const asio::use_awaitable_t<executor>, void(bool)>(
        [](auto handler, parking* here) { here->keep(std::move(handler)); }, use_task, this);
  }

  bool occupied() const { return run_ != nullptr; }

  // Lets the parked coroutine go on, on its own loop, after what is running there now.
  // REQUIRES: occupied, and called on the loop's thread.
  void resume(bool value) { std::exchange(run_, nullptr)(*this, action::resume, value); }

 private:
  enum class action { resume, discard };

  template <class Handler>
  void keep(Handler handler) {
    static_assert(sizeof(Handler) <= sizeof room_);
    assert(!occupied());
    ::new (static_cast<void*>(room_)) Handler(std::move(handler));
    run_ = [](parking& here, action what, bool value) {
      auto* const kept = std::launder(reinterpret_cast<Handler*>(here.room_));
      Handler taken(std::move(*kept));
      kept->~Handler();
      if (what == action::discard) return;
      const auto where = asio::get_associated_executor(taken);
      asio::post(where, [h = std::move(taken), value]() mutable { std::move(h)(value); });
    };
  }

  using runner = void (*)(parking&, action, bool);
  runner run_ = nullptr;
  alignas(std::max_align_t) std::byte room_[4 * sizeof(void*)];
};

}  // namespace lockmark
