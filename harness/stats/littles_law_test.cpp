#include "harness/stats/littles_law.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "harness/stats/random.hpp"

namespace lockmark::stats {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t window_ns = 10 * second;

struct attempt {
  std::int64_t from_ns, until_ns;
};

// Poisson arrivals at `rate` a second, each in flight for an exponential time.
std::vector<attempt> poisson_attempts(std::uint64_t seed, double rate, double mean_ns) {
  random_source rng(seed);
  std::vector<attempt> result;
  double t = -20 * mean_ns;
  while (t < window_ns) {
    t += rng.exponential(1e9 / rate);
    result.push_back(
        {static_cast<std::int64_t>(t), static_cast<std::int64_t>(t + rng.exponential(mean_ns))});
  }
  return result;
}

std::vector<double> gauge_of(const std::vector<attempt>& all, std::int64_t period_ns) {
  std::vector<double> changes(static_cast<std::size_t>(window_ns / period_ns) + 1);
  const auto place = [&](std::int64_t t) {
    const std::int64_t clamped = std::clamp<std::int64_t>(t, -1, window_ns - 1);
    return static_cast<std::size_t>(clamped / period_ns + (clamped < 0 ? 0 : 1));
  };
  for (const attempt& a : all) {
    changes[place(a.from_ns)] += 1;
    changes[place(a.until_ns)] -= 1;
  }
  double level = 0;
  for (double& change : changes) change = level += change;
  changes.pop_back();
  return changes;
}

double stamped_mean(const std::vector<attempt>& all) {
  in_flight_integral integral(0, window_ns);
  for (const attempt& a : all) integral.add(a.from_ns, a.until_ns);
  return integral.mean();
}

// Time outside the window does not count.
TEST(littles_law, integrates_inside_the_window) {
  in_flight_integral integral(100, 200), other(100, 200);
  integral.add(0, 150);
  integral.add(120, 130);
  integral.add(190, 900);
  integral.add(300, 400);
  other.add(0, 1'000);
  integral.merge(other);
  EXPECT_DOUBLE_EQ(integral.mean(), (50 + 10 + 10 + 100) / 100.0);
}

// R17: sound data pass, from busy to nearly idle (0.02 in flight, where 5 % is far below chance).
TEST(littles_law, holds_for_sound_data) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (double rate : {10'000.0, 500.0, 10.0}) {
      const auto all = poisson_attempts(seed, rate, 2e6);
      const auto check = check_littles_law(gauge_of(all, 10'000'000), stamped_mean(all));
      EXPECT_TRUE(check.checked);
      EXPECT_FALSE(check.failed) << rate << " seed " << seed;
    }
  }
}

// R17: wrong stamps are caught: a tenth of the attempts lost, waits measured from a late stamp, one
// clock ahead.
TEST(littles_law, catches_corrupt_stamps) {
  const auto sound = poisson_attempts(1, 10'000, 2e6);
  const auto gauge = gauge_of(sound, 10'000'000);
  const auto fails = [&](auto&& corrupt) {
    auto all = sound;
    corrupt(all);
    return check_littles_law(gauge, stamped_mean(all)).failed;
  };
  EXPECT_FALSE(fails([](auto&) {}));
  EXPECT_TRUE(fails([](auto& all) { all.resize(all.size() * 9 / 10); }));
  EXPECT_TRUE(fails([](auto& all) {
    for (attempt& a : all) a.from_ns = std::min(a.until_ns, a.from_ns + 300'000);
  }));
  EXPECT_TRUE(fails([](auto& all) {
    for (attempt& a : all) a.until_ns += 500'000;
  }));
  EXPECT_TRUE(fails([](auto& all) {
    for (attempt& a : all) std::swap(a.from_ns, a.until_ns);
  }));
}

// A constant gauge has no sampling error: only the 5 % count.
TEST(littles_law, holds_a_closed_loop_to_five_percent) {
  const std::vector<double> gauge(100, 16.0);
  EXPECT_FALSE(check_littles_law(gauge, 16.0 * 0.96).failed);
  EXPECT_TRUE(check_littles_law(gauge, 16.0 * 0.94).failed);
  EXPECT_NEAR(check_littles_law(gauge, 8.0).relative_difference, 0.5, 1e-12);
}

// Nothing in flight agrees with nothing in flight; few samples prove nothing.
TEST(littles_law, bears_idle_and_short_runs) {
  EXPECT_FALSE(check_littles_law(std::vector<double>(100, 0.0), 0).failed);
  EXPECT_TRUE(check_littles_law(std::vector<double>(100, 0.0), 0.5).failed);
  const auto check = check_littles_law(std::vector<double>(19, 1.0), 5);
  EXPECT_FALSE(check.checked);
  EXPECT_FALSE(check.failed);
}

}  // namespace
}  // namespace lockmark::stats
