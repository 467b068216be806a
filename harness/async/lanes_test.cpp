#include "harness/async/lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "harness/async/scope.hpp"

namespace lockmark {
namespace {

using namespace std::chrono_literals;

// A task that takes a second and notes how many run at the same time.
struct lanes : testing::Test {
  task<void> one(std::size_t i) {
    begun.push_back(i);
    most = std::max(most, ++under_way);
    co_await l.sleep_for(1s);
    --under_way;
    if (i == bad) throw std::runtime_error("bad");
  }
  void run(std::size_t count, std::size_t at_once) {
    run_to_end(l, in_lanes(l, count, at_once, [this](std::size_t i) { return one(i); }));
  }

  simulated_clock clock;
  loop l{clock};
  std::vector<std::size_t> begun;
  int under_way = 0;
  int most = 0;
  std::size_t bad = 1000;
};

// Ten one-second tasks in four lanes take three seconds, and start in order.
TEST_F(lanes, hold_so_many_at_a_time) {
  run(10, 4);
  EXPECT_EQ(begun, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(most, 4);
  EXPECT_EQ(clock.now(), time_point{3s});
}

// Fewer tasks than lanes, and none at all.
TEST_F(lanes, may_stay_empty) {
  run(2, 48);
  EXPECT_EQ(begun.size(), 2U);
  run(0, 48);
  EXPECT_EQ(begun.size(), 2U);
  EXPECT_EQ(clock.now(), time_point{1s});
}

// A failure surfaces after the tasks in progress have ended.
TEST_F(lanes, begin_nothing_after_a_failure) {
  bad = 1;
  EXPECT_THROW(run(100, 3), std::runtime_error);
  EXPECT_EQ(under_way, 0);
  EXPECT_LE(begun.size(), 5U);  // other lanes may have started tasks before it
}

}  // namespace
}  // namespace lockmark
