// Runs many tasks of one kind concurrently, but only a limited number at a time.
//
//   co_await in_lanes(l, connections.size(), 48, connect_one);   // connect_one(i) for each i
#pragma once

#include <cstddef>
#include <functional>

#include "harness/async/loop.hpp"

namespace lockmark {

// Runs `each` for 0 to count - 1, started in this order, at most `lanes` (> 0) at a time. After an
// exception no further task starts; once those in progress have ended, rethrows the first
// exception.
task<void> in_lanes(loop& l, std::size_t count, std::size_t lanes,
                    std::function<task<void>(std::size_t)> each);

}  // namespace lockmark
