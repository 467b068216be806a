// How an attempt at a lock that is held ends, for tests on real servers.
#pragma once

#include "harness/driver.hpp"

namespace lockmark::conformance {

// Asks for what another holds. An attempt in doubt met a server too slow to answer in time, which
// is not the question: it is made again, with twice the time.
inline task<outcome<grant>> refused_attempt(loop& l, session& s, request r) {
  constexpr duration longest = std::chrono::seconds{20};
  duration patience = r.deadline - l.now();
  outcome<grant> ended = co_await s.acquire(r);
  while (ended.in_doubt() && patience < longest) {
    patience *= 2;
    r.deadline = l.now() + patience;
    ended = co_await s.acquire(r);
  }
  co_return ended;
}

}  // namespace lockmark::conformance
