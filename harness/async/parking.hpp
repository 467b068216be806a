// The slot of one suspended coroutine, which is resumed with a bool.
#pragma once

#include <asio/async_result.hpp>
#include <cassert>
#include <optional>
#include <utility>

#include "harness/async/task.hpp"

namespace lockmark {

// A suspended coroutine: calling this with a bool resumes it at once.
using resumption = asio::async_result<asio::use_awaitable_t<executor>, void(bool)>::handler_type;

// The resumption lives inside the parking, so waiting allocates nothing.
class parking {
 public:
  parking() = default;
  parking(const parking&) = delete;
  parking& operator=(const parking&) = delete;

  // Suspends the caller until its resumption is taken and called. REQUIRES: not occupied.
  task<bool> wait() {
    return asio::async_initiate<const asio::use_awaitable_t<executor>, void(bool)>(
        [](resumption r, parking* here) {
          assert(!here->occupied());
          here->parked_.emplace(std::move(r));
        },
        use_task, this);
  }

  bool occupied() const { return parked_.has_value(); }

  // REQUIRES: occupied.
  resumption take() {
    resumption r = std::move(*parked_);
    parked_.reset();
    return r;
  }

 private:
  std::optional<resumption> parked_;
};

}  // namespace lockmark
