#include "harness/capacity/rate_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/stats/confidence.hpp"
#include "harness/stats/random.hpp"

namespace lockmark::capacity {
namespace {

constexpr double service_s = 0.005;
constexpr double limit_s = 0.05;  // for the p99 of responses
constexpr double most_per_s = 1 / service_s;
constexpr double usual_length_s = 60;

// A lock that is held for 5 ms, in order, and attempts that arrive at random: M/D/1.
class simulated_lock {
 public:
  explicit simulated_lock(std::uint64_t seed) : random_(seed) {}

  // Calls see(arrival, response), in seconds, for every attempt of so many seconds.
  template <class See>
  void run(double rate_per_s, double length_s, See see) {
    double free_at = 0;
    for (double t = random_.exponential(1 / rate_per_s); t < length_s;
         t += random_.exponential(1 / rate_per_s)) {
      free_at = std::max(free_at, t) + service_s;
      see(t, free_at - t);
    }
  }

 private:
  stats::random_source random_;
};

// The rate at which the p99 of very many attempts is the limit.
double true_rate() {
  double low = 0.5 * most_per_s, high = most_per_s;
  while (high / low > 1.002) {
    const double middle = (low + high) / 2;
    simulated_lock lock(99);
    std::int64_t all = 0, late = 0;
    lock.run(middle, 10'000, [&](double, double response_s) {
      ++all;
      late += response_s > limit_s ? 1 : 0;
    });
    (late * 100 > all ? high : low) = middle;
  }
  return high;
}

probe_result measure(simulated_lock& lock, const probe& p) {
  constexpr double interval_s = 0.5;
  stats::histogram all, current;
  stats::interval_bootstrap series;
  double interval_end_s = interval_s;
  lock.run(p.rate_per_s, usual_length_s * p.length, [&](double at_s, double response_s) {
    while (at_s >= interval_end_s) {
      series.add(current, 0);
      current.reset();
      interval_end_s += interval_s;
    }
    const auto ns = static_cast<std::int64_t>(response_s * 1e9);
    all.record(ns);
    current.record(ns);
  });
  constexpr std::array quantiles{0.99};
  const stats::attempts attempts{all, 0, 0};
  const auto estimate = stats::estimate_quantiles(attempts, series, quantiles, 1).front();
  probe_result r;
  r.low_s = static_cast<double>(estimate.interval.low.value_ns) / 1e9;
  r.high_s = static_cast<double>(estimate.interval.high.value_ns) / 1e9;
  return r;
}

TEST(rate_search, finds_the_rate_of_a_lock_of_known_capacity) {
  const double truth = true_rate();
  int close = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    simulated_lock lock(seed);
    rate_search search(limit_s, most_per_s);
    while (const auto p = search.next()) search.tell(measure(lock, *p));
    ASSERT_TRUE(search.rate_per_s()) << seed;
    EXPECT_LE(*search.rate_per_s(), truth) << seed;
    close += *search.rate_per_s() >= 0.93 * truth ? 1 : 0;
  }
  EXPECT_GE(close, 95);
}

probe_result passing() {
  probe_result r;
  r.high_s = limit_s / 2;
  return r;
}
probe_result failing() {
  probe_result r;
  r.low_s = r.high_s = 2 * limit_s;
  return r;
}

TEST(rate_search, ends_without_a_rate_where_none_will_do) {
  rate_search search(limit_s, 100);
  int probes = 0;
  for (; search.next(); ++probes) search.tell(failing());
  EXPECT_FALSE(search.rate_per_s());
  EXPECT_LT(probes, 50);
}

TEST(rate_search, stops_at_the_bound_where_everything_passes) {
  rate_search search(limit_s, 100);
  while (search.next()) search.tell(passing());
  ASSERT_TRUE(search.rate_per_s());
  EXPECT_DOUBLE_EQ(*search.rate_per_s(), 100);
  EXPECT_FALSE(search.failed_per_s());
}

TEST(rate_search, confirms_for_three_times_as_long) {
  rate_search search(limit_s, 100);
  while (search.next()) search.tell(passing());
  EXPECT_DOUBLE_EQ(search.probes().back().what.length, rate_search::confirmation);
}

// A rate that passed once and fails when it matters is not the answer.
TEST(rate_search, goes_lower_if_the_confirmation_fails) {
  rate_search search(limit_s, 100);
  bool failed_once = false;
  while (const auto p = search.next()) {
    const bool confirming = p->length >= rate_search::confirmation;
    search.tell(confirming && !failed_once ? failing() : passing());
    failed_once |= confirming;
  }
  ASSERT_TRUE(search.rate_per_s());
  EXPECT_LT(*search.rate_per_s(), 100);
}

TEST(rate_search, looks_twice_at_what_is_unclear) {
  rate_search search(limit_s, 100);
  probe_result r;
  r.low_s = 0.9 * limit_s;
  r.high_s = 1.1 * limit_s;
  const double rate = search.next()->rate_per_s;
  search.tell(r);
  EXPECT_DOUBLE_EQ(search.next()->rate_per_s, rate);
  EXPECT_DOUBLE_EQ(search.next()->length, 2);
  search.tell(r);
  EXPECT_LT(search.next()->rate_per_s, rate);
}

TEST(rate_judgement, needs_more_than_a_good_quantile) {
  probe_result r = passing();
  EXPECT_EQ(judge(r, limit_s), outcome::passes);
  r.achieved_share = 0.98;
  EXPECT_EQ(judge(r, limit_s), outcome::unclear);
  r = passing();
  r.dropped = 1;
  EXPECT_EQ(judge(r, limit_s), outcome::fails);
  r = passing();
  r.backlog_low_per_s = 0.5;
  EXPECT_EQ(judge(r, limit_s), outcome::fails);
}

}  // namespace
}  // namespace lockmark::capacity
