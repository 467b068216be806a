// Many tasks of one kind side by side, but only so many at a time.
//
//   co_await in_lanes(l, connections.size(), 48, connect_one);   // connect_one(i) for each i
#pragma once

#include <cstddef>
#include <functional>

#include "harness/async/loop.hpp"

namespace lockmark {

// Runs `each` for 0 to count - 1, begun in this order, at most `lanes` (> 0) at a time. Once one
// has thrown, no other is begun; when those under way have ended too, throws what the first one
// threw.
task<void> in_lanes(loop& l, std::size_t count, std::size_t lanes,
                    std::function<task<void>(std::size_t)> each);

}  // namespace lockmark
