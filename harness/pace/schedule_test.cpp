#include "harness/pace/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace lockmark::pace {
namespace {

using namespace std::chrono_literals;

constexpr config::rate two_hundred{1, 5ms};

std::vector<duration> plan(schedule from, std::size_t arrivals) {
  std::vector<duration> offsets;
  for (std::size_t i = 0; i < arrivals; ++i) offsets.push_back(from.next().value());
  return offsets;
}

std::vector<double> gaps_ns(const std::vector<duration>& offsets) {
  std::vector<double> gaps;
  duration before{};
  for (const duration offset : offsets) {
    gaps.push_back(static_cast<double>((offset - before).count()));
    before = offset;
  }
  return gaps;
}

// Kolmogorov-Smirnov against an exponential distribution of this mean: the asymptotic probability
// of a larger distance, with Stephens's correction for finite n.
double ks_exponential_p(std::vector<double> sample, double mean) {
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double ideal = -std::expm1(-sample[i] / mean);
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, ideal - rank / n, (rank + 1) / n - ideal});
  }
  const double t = distance * (std::sqrt(n) + 0.12 + 0.11 / std::sqrt(n));
  double p = 0;
  for (int k = 1; k <= 100; ++k) {
    p += 2 * (k % 2 == 1 ? 1 : -1) * std::exp(-2.0 * k * k * t * t);
  }
  return std::clamp(p, 0.0, 1.0);
}

// A closed loop has no scheduled arrivals.
TEST(schedule, closed_has_no_arrivals) {
  schedule closed = schedule::closed();
  EXPECT_FALSE(closed.next().has_value());
  EXPECT_FALSE(closed.next().has_value());
}

// A constant rate is start + i * interval, from the start itself on.
TEST(schedule, constant_is_a_ruler) {
  EXPECT_EQ(plan(schedule::constant(two_hundred, {}), 4),
            (std::vector<duration>{0ms, 5ms, 10ms, 15ms}));
}

// After a billion arrivals the offset is still exact, even if the interval is not a whole number of
// nanoseconds.
TEST(schedule, constant_does_not_drift) {
  EXPECT_EQ(constant_offset(two_hundred, 1'000'000'000), 5'000'000s);
  const config::rate three_per_second{3, 1s};
  EXPECT_EQ(constant_offset(three_per_second, 1), 333'333'333ns);
  EXPECT_EQ(constant_offset(three_per_second, 3'000'000'000), 1'000'000'000s);
  EXPECT_EQ(constant_offset(three_per_second, 1'000'000'001), duration{333'333'333'666'666'666});
}

// Offsets saturate at the largest duration instead of wrapping round.
TEST(schedule, constant_saturates) {
  const config::rate rare{1, std::chrono::hours{1'000'000}};
  EXPECT_EQ(constant_offset(rare, 1'000'000'000'000), duration::max());
}

// Arrival i goes to worker i mod R: the workers' plans interleave into the whole plan.
TEST(schedule, constant_stripes_over_workers) {
  const auto whole = plan(schedule::constant(two_hundred, {}), 30);
  for (std::uint32_t worker = 0; worker < 3; ++worker) {
    const auto part = plan(schedule::constant(two_hundred, {worker, 3}), 10);
    for (std::size_t k = 0; k < part.size(); ++k) EXPECT_EQ(part[k], whole[worker + 3 * k]);
  }
}

// The same seed gives the same plan; another seed or worker gives another.
TEST(schedule, poisson_is_its_seed) {
  const auto first = plan(schedule::poisson(two_hundred, {0, 2}, 7), 1000);
  EXPECT_EQ(first, plan(schedule::poisson(two_hundred, {0, 2}, 7), 1000));
  EXPECT_NE(first, plan(schedule::poisson(two_hundred, {1, 2}, 7), 1000));
  EXPECT_NE(first, plan(schedule::poisson(two_hundred, {0, 2}, 8), 1000));
  EXPECT_NE(first, plan(schedule::poisson(two_hundred, {0, 2}, 7 + (1ULL << 32)), 1000));
}

// The gaps of a Poisson schedule are exponential, for several seeds.
TEST(schedule, poisson_gaps_are_exponential) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto gaps = gaps_ns(plan(schedule::poisson(two_hundred, {}, seed), 4096));
    EXPECT_GT(ks_exponential_p(gaps, 5e6), 1e-3) << "seed " << seed;
  }
}

// The test above can fail: evenly spaced gaps, and gaps with a wrong mean, do not pass it.
TEST(schedule, the_exponential_test_has_teeth) {
  const auto even = gaps_ns(plan(schedule::constant(two_hundred, {}), 4096));
  EXPECT_LT(ks_exponential_p(even, 5e6), 1e-3);
  const auto fast = gaps_ns(plan(schedule::poisson(two_hundred, {}, 1), 4096));
  EXPECT_LT(ks_exponential_p(fast, 5.5e6), 1e-3);
}

// Offsets never go back, and all workers together keep the rate within 1 %.
TEST(schedule, poisson_workers_add_up_to_the_rate) {
  constexpr std::uint32_t workers = 4;
  double total_per_second = 0;
  for (std::uint32_t worker = 0; worker < workers; ++worker) {
    const auto part = plan(schedule::poisson(two_hundred, {worker, workers}, 42), 100'000);
    EXPECT_TRUE(std::is_sorted(part.begin(), part.end()));
    total_per_second += 100'000 / std::chrono::duration<double>(part.back()).count();
  }
  EXPECT_NEAR(total_per_second, 200, 2);
}

// Merged, the workers' parts form a Poisson process of the whole rate again.
TEST(schedule, merged_poisson_parts_are_poisson) {
  std::vector<duration> merged;
  for (std::uint32_t worker = 0; worker < 4; ++worker) {
    const auto part = plan(schedule::poisson(two_hundred, {worker, 4}, 3), 2048);
    merged.insert(merged.end(), part.begin(), part.end());
  }
  std::sort(merged.begin(), merged.end());
  merged.resize(4096);
  EXPECT_GT(ks_exponential_p(gaps_ns(merged), 5e6), 1e-3);
}

// In the order in which they are due, whoever's they are.
TEST(arrivals, of_several_workers_are_those_of_each_in_order) {
  const config::job job = config::parse_job(
      "lock: memory/lock\nload: {loop: poisson, rate: 200/s}\nkeys: uniform(20)\n"
      "stop: {duration: 10s}\n",
      "test.yaml");
  const auto all = arrivals_of(job, 3, 10s);
  std::vector<duration> due, expected;
  for (const arrival& a : all) due.push_back(a.due);
  for (std::uint32_t worker = 0; worker < 3; ++worker) {
    schedule of_one = schedule_of(job, {worker, 3});
    for (duration at = *of_one.next(); at < 10s; at = *of_one.next()) expected.push_back(at);
  }
  std::ranges::sort(expected);
  EXPECT_GT(due.size(), 1500U);
  EXPECT_EQ(due, expected);
}

}  // namespace
}  // namespace lockmark::pace
