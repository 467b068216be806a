#include "harness/config/distribution.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "harness/config/test_random.hpp"

namespace lockmark::config {
namespace {

using namespace std::chrono_literals;

std::vector<double> sorted_sample_ms(const char* text, std::size_t n) {
  const distribution from = *parse_distribution(text);
  test_random random{11};
  std::vector<double> sample;
  for (std::size_t i = 0; i < n; ++i) {
    sample.push_back(static_cast<double>(from.sample(random).count()) / 1e6);
  }
  std::sort(sample.begin(), sample.end());
  return sample;
}

TEST(distribution, survives_the_round_trip) {
  for (const char* text :
       {"0s", "5ms", "exponential(5ms)", "uniform(1ms, 3ms)", "lognormal(5ms, 0.5)"}) {
    const auto read = parse_distribution(text);
    ASSERT_TRUE(read) << text << ": " << read.error().sentence;
    EXPECT_EQ(print_distribution(*read), text);
  }
  EXPECT_EQ(*parse_distribution("uniform( 1ms,3ms )"), *parse_distribution("uniform(1ms, 3ms)"));
}

TEST(distribution, says_what_it_expected) {
  const std::string known =
      "expected a duration such as 5ms, or exponential(5ms), uniform(1ms, 3ms) or "
      "lognormal(5ms, 0.5), not ";
  const std::string a_duration =
      "expected a duration such as 250ms, 1.5s or 2m (units ns, us, ms, s, m, h), not ";
  const std::pair<const char*, std::string> cases[] = {
      {"", known + "''"},
      {"normal(5ms)", known + "'normal(5ms)'"},
      {"exponential", known + "'exponential'"},
      {"exponential()", known + "'exponential()'"},
      {"exponential(5ms", known + "'exponential(5ms'"},
      {"exponential(5ms) ", known + "'exponential(5ms) '"},
      {"exponential(1ms, 2ms)", known + "'exponential(1ms, 2ms)'"},
      {"uniform(1ms,,3ms)", known + "'uniform(1ms,,3ms)'"},
      {"uniform((1ms), 3ms)", known + "'uniform((1ms), 3ms)'"},
      {"5", a_duration + "'5', which has no unit"},
      {"exponential(5)", a_duration + "'5', which has no unit"},
      {"uniform(3ms, 1ms)",
       "expected uniform(LEAST, GREATEST), not 'uniform(3ms, 1ms)', which is the wrong way round"},
      {"lognormal(5ms, 0)", "expected a sigma above 0 and at most 5, not 'lognormal(5ms, 0)'"},
      {"lognormal(5ms, x)", "expected a number such as 0.5, not 'x'"},
  };
  for (const auto& [text, sentence] : cases) {
    const auto read = parse_distribution(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().sentence, sentence);
  }
}

TEST(distribution, constant_needs_no_randomness) {
  stuck_random random;
  EXPECT_EQ(parse_distribution("5ms")->sample(random), 5ms);
  EXPECT_TRUE(parse_distribution("0s")->always_zero());
  EXPECT_FALSE(parse_distribution("5ms")->always_zero());
  EXPECT_FALSE(parse_distribution("exponential(1ms)")->always_zero());
}

// Quantiles of 100,000 samples against the theoretical ones.
TEST(distribution, samples_have_the_right_quantiles) {
  const auto exponential = sorted_sample_ms("exponential(5ms)", 100'000);
  EXPECT_NEAR(exponential[50'000], 5 * std::log(2), 0.1);
  EXPECT_NEAR(exponential[90'000], 5 * std::log(10), 0.3);
  const auto uniform = sorted_sample_ms("uniform(1ms, 3ms)", 100'000);
  EXPECT_GE(uniform.front(), 1);
  EXPECT_LE(uniform.back(), 3);
  EXPECT_NEAR(uniform[25'000], 1.5, 0.02);
  const auto lognormal = sorted_sample_ms("lognormal(5ms, 0.5)", 100'000);
  EXPECT_NEAR(lognormal[50'000], 5, 0.05);
  EXPECT_NEAR(lognormal[84'134], 5 * std::exp(0.5), 0.1);
}

// An extreme tail is cut instead of overflowing.
TEST(distribution, tails_are_cut) {
  stuck_random random{.uniform = 0, .gauss = 30};
  EXPECT_EQ(parse_distribution("lognormal(1s, 5)")->sample(random), 1h);
  EXPECT_EQ(parse_distribution("lognormal(2h, 5)")->sample(random), 2h);
  EXPECT_EQ(parse_distribution("exponential(1s)")->sample(random), 0s);
}

}  // namespace
}  // namespace lockmark::config
