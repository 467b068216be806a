#include "harness/capacity/usl.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/stats/random.hpp"

namespace lockmark::capacity {
namespace {

constexpr usl truth{0.03, 0.0002, 1000};

std::vector<throughput> measured(const std::vector<double>& clients, int repeats, double noise,
                                 std::uint64_t seed, const usl& law = truth) {
  stats::random_source random(seed);
  std::vector<throughput> points;
  for (const double n : clients) {
    for (int i = 0; i < repeats; ++i) points.push_back({n, law.at(n) * random.normal(1, noise)});
  }
  return points;
}

const std::vector<double> eight = {1, 2, 4, 8, 16, 32, 64, 96};

TEST(usl, finds_what_made_the_data) {
  const auto fit = fit_usl(measured(eight, 1, 0, 1));
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->contention, 0.03, 1e-9);
  EXPECT_NEAR(fit->coherence, 0.0002, 1e-9);
  EXPECT_NEAR(fit->each_per_s, 1000, 1e-6);
  EXPECT_NEAR(*fit->peak_clients(), 69.64, 0.01);
}

// R22: 8 numbers of clients, 3 runs each, 5 % of noise: the interval covers the truth as often as
// stated, and is narrow enough to be reported.
TEST(usl, tells_the_peak_that_the_data_carry) {
  int told = 0, covered = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto f = find_usl(measured(eight, 3, 0.05, seed), seed);
    ASSERT_TRUE(f.fit);
    if (!f.found) continue;
    ++told;
    covered += f.found->low <= 69.64 && 69.64 <= f.found->high ? 1 : 0;
  }
  EXPECT_GE(told, 90);
  EXPECT_GE(covered, told * 88 / 100);
}

// R22: five points up to 16 clients show nothing about a peak at 70.
TEST(usl, tells_no_peak_from_too_few_points) {
  const auto f = find_usl(measured({1, 2, 4, 8, 16}, 3, 0.05, 1), 1);
  EXPECT_FALSE(f.found);
  EXPECT_THAT(f.says, testing::HasSubstr("no peak observed up to 16 clients"));
}

// Enough points, but all of them far below the peak.
TEST(usl, tells_no_peak_far_outside_of_the_range) {
  const auto f = find_usl(measured({1, 2, 3, 4, 6, 8, 12, 16}, 3, 0.05, 1), 1);
  EXPECT_TRUE(f.fit);
  EXPECT_FALSE(f.found);
  EXPECT_THAT(f.says, testing::HasSubstr("no peak observed up to 16 clients"));
}

TEST(usl, never_has_negative_terms) {
  const auto fit = fit_usl(measured(eight, 3, 0.05, 4, usl{0, 0, 500}));
  ASSERT_TRUE(fit);
  EXPECT_GE(fit->contention, 0);
  EXPECT_GE(fit->coherence, 0);
  EXPECT_NEAR(fit->each_per_s, 500, 50);
}

TEST(usl, needs_something_to_fit) {
  EXPECT_FALSE(fit_usl({}));
  EXPECT_EQ(find_usl({}, 1).says, "no throughput was measured");
}

}  // namespace
}  // namespace lockmark::capacity
