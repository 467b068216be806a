#include "harness/time/clock.hpp"

#include <gtest/gtest.h>

namespace lockmark {
namespace {

using namespace std::chrono_literals;

// A simulated clock moves forward only, and only when told to.
TEST(simulated_clock, never_goes_back) {
  simulated_clock clock;
  const time_point start = clock.now();
  clock.advance(5ms);
  EXPECT_EQ(clock.now() - start, 5ms);
  clock.advance_to(start + 2ms);
  EXPECT_EQ(clock.now() - start, 5ms);
}

TEST(wall_time, is_written_in_utc) {
  constexpr std::int64_t wall_ns = 1'769'850'307'000'000'000;
  EXPECT_EQ(iso8601_utc(wall_ns), "2026-01-31T09:05:07Z");
  EXPECT_EQ(compact_utc(wall_ns), "20260131-090507");
}

}  // namespace
}  // namespace lockmark
