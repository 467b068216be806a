#include "harness/gate/rank_shift.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace lockmark::gate {
namespace {

// From published tables (Hollander and Wolfe, table A.4).
TEST(signed_rank, knows_its_distribution) {
  EXPECT_NEAR(signed_rank_cdf(10, 10), 0.0420, 0.0001);
  EXPECT_NEAR(signed_rank_cdf(10, 5), 0.0098, 0.0001);
  EXPECT_DOUBLE_EQ(signed_rank_cdf(5, 15), 1.0);
}

// The same book, table A.6, and by hand: one of twenty choices of three ranks of six is the least.
TEST(rank_sum, knows_its_distribution) {
  EXPECT_DOUBLE_EQ(rank_sum_cdf(3, 3, 0), 1.0 / 20);
  EXPECT_DOUBLE_EQ(rank_sum_cdf(3, 3, 9), 1.0);
  EXPECT_DOUBLE_EQ(rank_sum_cdf(2, 5, 1), 2.0 / 21);
  EXPECT_NEAR(rank_sum_cdf(10, 10, 27), 0.0446, 0.0001);
  EXPECT_NEAR(rank_sum_cdf(10, 10, 28), 0.0526, 0.0001);
  EXPECT_DOUBLE_EQ(rank_sum_cdf(10, 30, 70), rank_sum_cdf(30, 10, 70));
}

// 28 of the 30 differences are above 0; 4 of the 462 choices of five ranks are as extreme.
TEST(rank_sum, finds_a_shift_between_two_samples) {
  const std::vector<double> from{1.1, 2.3, 0.7, 1.9, 1.4}, to{2.6, 3.1, 1.8, 2.9, 4.0, 3.4};
  const auto shift = rank_shift::of_samples(from, to);
  EXPECT_NEAR(shift.p_value_above_zero(), 4.0 / 462, 1e-12);
  EXPECT_NEAR(shift.hodges_lehmann(), 1.5, 1e-9);
  EXPECT_GT(shift.lower_bound(0.95), 0);
  EXPECT_LT(shift.lower_bound(0.95), shift.hodges_lehmann());
  EXPECT_GT(shift.upper_bound(0.95), shift.hodges_lehmann());
  const auto back = rank_shift::of_samples(to, from);
  EXPECT_DOUBLE_EQ(back.upper_bound(0.95), -shift.lower_bound(0.95));
}

// One stored run proves nothing, however many runs it is compared with.
TEST(rank_sum, cannot_bound_a_shift_from_one_value) {
  const std::vector<double> from{1}, to(30, 5.0);
  EXPECT_TRUE(std::isinf(rank_shift::of_samples(from, to).lower_bound(0.99)));
  EXPECT_NEAR(rank_shift::of_samples(from, to).p_value_above_zero(), 1.0 / 31, 1e-12);
}

// R's wilcox.test (signed_rank_reference.R) on the same differences.
TEST(signed_rank, agrees_with_r) {
  std::ifstream file("harness/gate/signed_rank_reference.json");
  const auto cases = nlohmann::json::parse(file);
  ASSERT_GE(cases.size(), 20U);
  for (const auto& c : cases) {
    const std::vector<double> x = c.at("x");
    const auto shift = rank_shift::of_pairs(x);
    SCOPED_TRACE(c.dump());
    EXPECT_NEAR(shift.hodges_lehmann(), c.at("hodges_lehmann").get<double>(), 1e-9);
    EXPECT_NEAR(shift.lower_bound(0.95), c.at("lower95").get<double>(), 1e-9);
    EXPECT_NEAR(shift.p_value_above_zero(), c.at("p").get<double>(), 1e-9);
    if (!c.at("lower99").is_null()) {
      EXPECT_NEAR(shift.lower_bound(0.99), c.at("lower99").get<double>(), 1e-9);
    }
  }
}

// Four pairs cannot reach 99 % confidence.
TEST(signed_rank, says_when_there_are_too_few_pairs) {
  const auto shift = rank_shift::of_pairs(std::vector{1.0, 2.0, 3.0, 4.0});
  EXPECT_TRUE(std::isinf(shift.lower_bound(0.99)));
  EXPECT_TRUE(std::isinf(shift.upper_bound(0.99)));
}

TEST(signed_rank, is_symmetric) {
  const std::vector<double> x{0.3, -0.1, 0.25, 0.4, 0.05, 0.11, 0.2, -0.02};
  std::vector<double> mirrored;
  for (const double v : x) mirrored.push_back(-v);
  EXPECT_DOUBLE_EQ(rank_shift::of_pairs(x).lower_bound(0.95),
                   -rank_shift::of_pairs(mirrored).upper_bound(0.95));
}

}  // namespace
}  // namespace lockmark::gate
