// Where one suspended coroutine is kept until it is resumed with a yes or a no.
#pragma once

#include <asio/async_result.hpp>
#include <cassert>
#include <optional>
#include <utility>

#include "harness/async/task.hpp"

namespace lockmark {

// A coroutine that can go on: calling it with a bool resumes it at once.
using resumption = asio::async_result<asio::use_awaitable_t<executor>, void(bool)>::handler_type;

// The resumption lives inside the parking, so that waiting allocates nothing.
class parking {
 public:
  parking() = default;
  parking(const parking&) = delete;
  parking& operator=(const parking&) = delete;

  // Suspends the caller until somebody takes its resumption and calls it.
  // REQUIRES: not occupied.
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
