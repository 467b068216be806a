#include "harness/capacity/objective.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/capacity/evidence.hpp"
#include "harness/capacity/rate_search.hpp"

namespace lockmark::capacity {
namespace {

TEST(objective, is_read_as_it_is_printed) {
  for (const char* text : {"p99<20ms", "p99.9<1s", "p50<800us", "p99.99<1.5s"}) {
    const auto o = parse_objective(text);
    ASSERT_TRUE(o) << text;
    EXPECT_EQ(print_objective(*o), text);
  }
  EXPECT_EQ(*parse_objective(" p99 < 20ms "), (objective{0.99, 20'000'000}));
}

TEST(objective, says_what_was_expected) {
  for (const char* text : {"", "p99", "99<20ms", "p<20ms", "p0<20ms", "p100<20ms", "p99<20",
                           "p99<0s", "p99>20ms", "mean<1ms"}) {
    const auto o = parse_objective(text);
    ASSERT_FALSE(o) << text;
    EXPECT_THAT(o.error().sentence, testing::HasSubstr("expected")) << text;
  }
}

// This many attempts, none of them late, are just enough to pass; a third of them are not.
TEST(objective, knows_how_many_attempts_it_needs) {
  for (const double q : {0.9, 0.99, 0.999}) {
    const objective o{q, 1'000'000};
    const auto high = [&](std::int64_t n) {
      const stretches run{std::vector<stretch>(30, {n / 30 + 1, 0, 0.1}), 1};
      return bound_share(std::vector{run}, rate_search::doubt).high;
    };
    EXPECT_LT(high(o.attempts_needed()), o.allowed()) << q;
    EXPECT_GT(high(o.attempts_needed() / 3), o.allowed()) << q;
  }
}

}  // namespace
}  // namespace lockmark::capacity
