#include "harness/capacity/queue_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/stats/random.hpp"

namespace lockmark::capacity {
namespace {

// 5 ms of hold and hand-off, constant or exponentially distributed.
constexpr service_time constant{0.005, 0.005 * 0.005};
constexpr service_time exponential{0.005, 2 * 0.005 * 0.005};

// Lindley's recursion: each wait follows from the previous one.
std::vector<double> simulate(double rate_per_s, bool random_service) {
  stats::random_source random(3);
  std::vector<double> waits;
  double wait = 0;
  for (int i = 0; i < 400'000; ++i) {
    waits.push_back(wait);
    const double service = random_service ? random.exponential(0.005) : 0.005;
    wait = std::max(0.0, wait + service - random.exponential(1 / rate_per_s));
  }
  return waits;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

double quantile(std::vector<double> values, double q) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size()));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

TEST(queue_model, knows_the_bounds_of_one_lock) {
  EXPECT_DOUBLE_EQ(most_grants_per_s(constant), 200);
  EXPECT_NEAR(most_grants_per_s(constant, 2, 0.090, 0.005), 20, 0.1);
  EXPECT_DOUBLE_EQ(most_grants_per_s(constant, 1000, 0.090, 0.005), 200);
  EXPECT_DOUBLE_EQ(knee_clients(constant, 0.090, 0.005), 20);
}

TEST(queue_model, predicts_mean_waits) {
  for (const double utilisation : {0.5, 0.7, 0.9}) {
    const double rate = utilisation * 200;
    const auto c = predict(constant, rate);
    const auto e = predict(exponential, rate);
    ASSERT_TRUE(c && e);
    EXPECT_NEAR(mean(simulate(rate, false)), c->mean_s, 0.08 * c->mean_s) << utilisation;
    EXPECT_NEAR(mean(simulate(rate, true)), e->mean_s, 0.08 * e->mean_s) << utilisation;
  }
}

TEST(queue_model, predicts_quantiles_as_well_as_it_says) {
  const auto e = predict(exponential, 160);
  ASSERT_TRUE(e);
  const double p99 = quantile(simulate(160, true), 0.99);
  EXPECT_NEAR(e->quantile_s(0.99), p99, 0.1 * p99);
  const auto c = predict(constant, 160);
  const double exact = quantile(simulate(160, false), 0.99);
  EXPECT_GT(c->quantile_s(0.99), 0.95 * exact);
  EXPECT_LT(c->quantile_s(0.99), 1.25 * exact);
}

TEST(queue_model, refuses_a_rate_that_no_lock_can_serve) {
  EXPECT_FALSE(predict(constant, 200));
  EXPECT_FALSE(predict(constant, 500));
}

TEST(queue_model, says_that_most_do_not_wait_at_an_idle_lock) {
  const auto w = predict(constant, 10);
  ASSERT_TRUE(w);
  EXPECT_DOUBLE_EQ(w->quantile_s(0.9), 0);
}

TEST(queue_model, counts_shards) {
  EXPECT_EQ(shards_for(constant, 100, 0.7), 1U);
  EXPECT_EQ(shards_for(constant, 1000, 0.7), 8U);
  EXPECT_EQ(shards_for(constant, 0, 0.7), 1U);
}

}  // namespace
}  // namespace lockmark::capacity
