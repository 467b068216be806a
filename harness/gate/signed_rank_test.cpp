#include "harness/gate/signed_rank.hpp"

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
  EXPECT_EQ(signed_rank_quantile(10, 0.05), 11U);
  EXPECT_EQ(signed_rank_quantile(10, 0.01), 6U);
}

// R's wilcox.test (signed_rank_reference.R) on the same differences.
TEST(signed_rank, agrees_with_r) {
  std::ifstream file("harness/gate/signed_rank_reference.json");
  const auto cases = nlohmann::json::parse(file);
  ASSERT_GE(cases.size(), 20U);
  for (const auto& c : cases) {
    const std::vector<double> x = c.at("x");
    const paired_shift shift(x);
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
  const paired_shift shift(std::vector{1.0, 2.0, 3.0, 4.0});
  EXPECT_TRUE(std::isinf(shift.lower_bound(0.99)));
  EXPECT_TRUE(std::isinf(shift.upper_bound(0.99)));
}

TEST(signed_rank, is_symmetric) {
  const std::vector<double> x{0.3, -0.1, 0.25, 0.4, 0.05, 0.11, 0.2, -0.02};
  std::vector<double> mirrored;
  for (const double v : x) mirrored.push_back(-v);
  EXPECT_DOUBLE_EQ(paired_shift(x).lower_bound(0.95), -paired_shift(mirrored).upper_bound(0.95));
}

}  // namespace
}  // namespace lockmark::gate
