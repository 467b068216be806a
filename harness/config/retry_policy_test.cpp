#include "harness/config/retry_policy.hpp"

#include <gtest/gtest.h>

#include "harness/config/test_random.hpp"

namespace lockmark::config {
namespace {

using namespace std::chrono_literals;

TEST(retry_policy, survives_the_round_trip) {
  for (const char* text :
       {"none", "spin", "fixed(10ms)", "jittered(1ms, 20ms)", "exponential(1ms, 128ms)"}) {
    const auto read = parse_retry_policy(text);
    ASSERT_TRUE(read) << text << ": " << read.error().sentence;
    EXPECT_EQ(print_retry_policy(*read), text);
  }
}

TEST(retry_policy, says_what_it_expected) {
  const std::string known =
      "expected none, spin, fixed(PAUSE), jittered(LEAST, GREATEST) or "
      "exponential(FIRST, GREATEST), not ";
  const std::pair<const char*, std::string> cases[] = {
      {"always", known + "'always'"},
      {"fixed", known + "'fixed'"},
      {"10ms", known + "'10ms'"},
      {"fixed(0ms)", "expected a pause above zero (or the policy spin), not '0ms'"},
      {"fixed(10)",
       "expected a duration such as 250ms, 1.5s or 2m (units ns, us, ms, s, m, h), not '10', which "
       "has no unit"},
      {"jittered(20ms, 1ms)",
       "expected the shorter pause before the longer, not 'jittered(20ms, 1ms)', which is the "
       "wrong way round"},
      {"exponential(0ms, 1ms)",
       "expected a first pause above zero, not 'exponential(0ms, 1ms)', which would stay at zero "
       "when doubled"},
  };
  for (const auto& [text, sentence] : cases) {
    const auto read = parse_retry_policy(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().sentence, sentence);
  }
}

TEST(retry_policy, none_gives_up_and_the_simple_ones_do_not) {
  stuck_random random;
  EXPECT_EQ(parse_retry_policy("none")->next_pause(1, random), std::nullopt);
  EXPECT_EQ(parse_retry_policy("spin")->next_pause(1, random), 0ns);
  EXPECT_EQ(parse_retry_policy("fixed(10ms)")->next_pause(9, random), 10ms);
}

TEST(retry_policy, jitter_fills_its_range) {
  const retry_policy policy = *parse_retry_policy("jittered(1ms, 20ms)");
  test_random random{2};
  duration least = 1h;
  duration greatest = 0s;
  for (int i = 0; i < 10'000; ++i) {
    const duration pause = policy.next_pause(1, random).value();
    least = std::min(least, pause);
    greatest = std::max(greatest, pause);
  }
  EXPECT_GE(least, 1ms);
  EXPECT_LT(least, 1100us);
  EXPECT_LE(greatest, 20ms);
  EXPECT_GT(greatest, 19900us);
}

// The pause doubles from the first to the greatest, each between half and all of it, for ever.
TEST(retry_policy, exponential_doubles_to_its_limit) {
  const retry_policy policy = *parse_retry_policy("exponential(1ms, 100ms)");
  stuck_random low{.uniform = 0};
  EXPECT_EQ(policy.next_pause(1, low), 500us);
  EXPECT_EQ(policy.next_pause(2, low), 1ms);
  EXPECT_EQ(policy.next_pause(3, low), 2ms);
  EXPECT_EQ(policy.next_pause(8, low), 50ms);
  EXPECT_EQ(policy.next_pause(4'000'000'000u, low), 50ms);
  stuck_random high{.uniform = 1 - 0x1.0p-53};
  EXPECT_EQ(policy.next_pause(1, high), 1ms);
  EXPECT_EQ(policy.next_pause(8, high), 100ms);
}

}  // namespace
}  // namespace lockmark::config
