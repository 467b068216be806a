// How often coroutines allocate. A program of its own, because it counts every allocation.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "harness/async/scope.hpp"

namespace {
std::atomic<std::size_t> allocations = 0;
}

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
// AddressSanitizer's own, of which std::stable_sort() makes use, would not go with free().
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

namespace lockmark {
namespace {

// Calls within calls, of which the innermost waits: as an attempt, its workload, the lock's session
// and its connection.
task<void> call(loop& l, int within) {
  if (within > 0) {
    co_await call(l, within - 1);
  } else {
    co_await l.yield();
  }
}

task<void> client(loop& l, int calls) {
  for (int i = 0; i < calls; ++i) co_await call(l, 5);
}

std::size_t allocations_of(int calls) {
  simulated_clock clock;
  loop l{clock};
  scope clients{l};
  for (int i = 0; i < 10; ++i) clients.spawn(client(l, calls));
  const std::size_t before = allocations;
  run_to_end(l, clients.join());
  return allocations - before;
}

TEST(frames, of_calls_that_have_ended_serve_the_next) {
  const std::size_t of_few = allocations_of(10);
  EXPECT_LT(allocations_of(1010), of_few + 10);
}

}  // namespace
}  // namespace lockmark
