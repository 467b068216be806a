#include "harness/check/aftermath.hpp"

#include <gtest/gtest.h>

namespace lockmark::check {
namespace {

constexpr std::int64_t ms = 1'000'000;

TEST(aftermath, of_a_client_is_the_time_to_the_next_grant) {
  const auto found =
      find_aftermath({{1000 * ms, true}}, {900 * ms, 2900 * ms, 6000 * ms}, {}, 10'000 * ms);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].recovery_ns, 1900 * ms);
}

TEST(aftermath, of_a_server_ignores_answers_that_were_on_their_way) {
  const auto found =
      find_aftermath({{1000 * ms, false}}, {999 * ms, 1001 * ms, 1003 * ms, 3800 * ms, 3801 * ms},
                     {}, 10'000 * ms);
  EXPECT_EQ(found[0].recovery_ns, 2800 * ms);
}

// The old master keeps granting for a second before the new one leads.
TEST(aftermath, of_a_failover_may_begin_as_long_as_it_takes) {
  const std::vector<std::int64_t> grants_ns{1050 * ms, 1500 * ms, 1950 * ms, 4000 * ms, 4100 * ms};
  const auto whole = find_aftermath({{1000 * ms, false, 1200 * ms}}, grants_ns, {}, 10'000 * ms);
  EXPECT_EQ(whole[0].recovery_ns, 3000 * ms);
  const auto disruption = find_aftermath({{1000 * ms, false}}, grants_ns, {}, 10'000 * ms);
  EXPECT_EQ(disruption[0].recovery_ns, 500 * ms);
}

TEST(aftermath, of_a_server_that_nobody_missed_is_a_usual_gap) {
  std::vector<std::int64_t> grants_ns;
  for (std::int64_t t = 0; t < 5000; t += 10) grants_ns.push_back(t * ms);
  const auto found = find_aftermath({{1000 * ms, false}}, grants_ns, {}, 5000 * ms);
  ASSERT_TRUE(found[0].recovery_ns);
  EXPECT_LE(*found[0].recovery_ns, settling_ns + 10 * ms);
}

TEST(aftermath, says_where_no_grant_came_any_more) {
  for (const bool on_a_client : {true, false}) {
    const auto found = find_aftermath({{1000 * ms, on_a_client}}, {500 * ms}, {}, 10'000 * ms);
    EXPECT_FALSE(found[0].recovery_ns) << on_a_client;
  }
}

TEST(aftermath, belongs_to_the_last_blow) {
  const auto found = find_aftermath({{1000 * ms, true}, {2000 * ms, true}}, {2500 * ms},
                                    {1500 * ms, 1600 * ms, 2400 * ms, 9000 * ms}, 10'000 * ms);
  EXPECT_FALSE(found[0].recovery_ns);  // later grants belong to the second disruption
  EXPECT_EQ(found[0].violations, 2U);
  EXPECT_EQ(found[1].recovery_ns, 500 * ms);
  EXPECT_EQ(found[1].violations, 2U);
}

TEST(aftermath, is_nothing_without_a_blow) {
  EXPECT_TRUE(find_aftermath({}, {1, 2, 3}, {2}, 10).empty());
}

}  // namespace
}  // namespace lockmark::check
