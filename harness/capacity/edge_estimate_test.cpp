#include "harness/capacity/edge_estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace lockmark::capacity {
namespace {

constexpr double allowed = 0.01;

// Late attempts in crowds of `crowd`.
share_bounds late(double share, std::int64_t attempts = 2000, double crowd = 10) {
  share_bounds b;
  b.share = share;
  b.attempts = attempts;
  b.worth = share > 0 ? static_cast<double>(attempts) / crowd : static_cast<double>(attempts);
  return b;
}

// On the line that the estimate assumes.
double share_at(double rate_per_s, double edge_per_s, double slope) {
  const double odds = allowed / (1 - allowed) * std::pow(rate_per_s / edge_per_s, slope);
  return odds / (1 + odds);
}

double spread(const edge_estimate& e) {
  return std::log(e.quantile_per_s(0.84) / e.quantile_per_s(0.16)) / 2;
}

TEST(edge_estimate, finds_the_edge_between_clear_probes) {
  edge_estimate e(allowed);
  e.add(80, late(0));
  e.add(120, late(0.4));
  EXPECT_GT(e.quantile_per_s(0.025), 70);
  EXPECT_LT(e.quantile_per_s(0.975), 120);
}

TEST(edge_estimate, is_surer_and_right_with_more_probes) {
  for (const double slope : {5.0, 20.0, 50.0}) {
    edge_estimate e(allowed);
    for (const double rate : {50.0, 75.0, 112.0}) e.add(rate, late(share_at(rate, 100, slope)));
    const double before = spread(e);
    for (int i = 0; i < 20; ++i) {
      const double rate = e.quantile_per_s(0.5);
      e.add(rate, late(share_at(rate, 100, slope)));
    }
    EXPECT_LT(spread(e), before / 2) << slope;
    EXPECT_NEAR(e.quantile_per_s(0.5), 100, slope < 10 ? 5 : 2) << slope;
  }
}

TEST(edge_estimate, tells_how_steeply_the_share_rises) {
  for (const double slope : {4.0, 8.0, 20.0}) {
    edge_estimate e(allowed);
    for (int i = 0; i < 20; ++i) {
      for (const double odds_log : {-0.5, 0.8}) {
        const double rate = 100 * std::exp(odds_log / slope);
        e.add(rate, late(share_at(rate, 100, slope)));
      }
    }
    EXPECT_NEAR(std::log(e.slope() / slope), 0, 0.25) << slope;
  }
}

// The same shares carry less information if late attempts come in larger crowds.
TEST(edge_estimate, is_less_sure_of_crowds) {
  edge_estimate small(allowed), large(allowed);
  for (const double rate : {90.0, 95.0, 100.0, 105.0}) {
    small.add(rate, late(share_at(rate, 100, 20), 2000, 2));
    large.add(rate, late(share_at(rate, 100, 20), 2000, 50));
  }
  EXPECT_GT(spread(large), 2 * spread(small));
}

// One lucky probe above the edge shows no crowd; the others do.
TEST(edge_estimate, takes_crowds_from_all_probes) {
  edge_estimate e(allowed);
  for (int i = 0; i < 5; ++i) {
    for (const double rate : {95.0, 105.0}) e.add(rate, late(share_at(rate, 100, 20), 2000, 30));
  }
  const double before = e.quantile_per_s(0.5);
  e.add(110, late(0));
  EXPECT_LT(e.quantile_per_s(0.5), 1.03 * before);
}

// Far above the edge the line is wrong: an overloaded server is late with everything.
TEST(edge_estimate, heeds_probes_far_from_the_edge_less) {
  edge_estimate e(allowed);
  for (int i = 0; i < 10; ++i) {
    for (const double rate : {70.0, 80.0}) e.add(rate, late(share_at(rate, 100, 6)));
  }
  e.add(150, late(1, 20'000, 10));
  EXPECT_NEAR(e.quantile_per_s(0.5), 100, 5);
}

}  // namespace
}  // namespace lockmark::capacity
