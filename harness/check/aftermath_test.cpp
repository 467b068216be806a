#include "harness/check/aftermath.hpp"

#include <gtest/gtest.h>

namespace lockmark::check {
namespace {

constexpr std::int64_t ms = 1'000'000;

// Of one key that is always wanted.
std::vector<grant_stamp> grants_at(const std::vector<std::int64_t>& all_ms) {
  std::vector<grant_stamp> all;
  for (const std::int64_t at_ms : all_ms) all.push_back({at_ms * ms});
  return all;
}

TEST(aftermath, of_a_client_is_the_time_to_the_next_grant) {
  const auto found =
      find_aftermath({{1000 * ms, true}}, grants_at({900, 2900, 6000}), {}, {}, 10'000 * ms);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].recovery_ns, 1900 * ms);
}

TEST(aftermath, of_a_server_ignores_answers_that_were_on_their_way) {
  const auto found = find_aftermath({{1000 * ms, false}}, grants_at({999, 1001, 1003, 3800, 3801}),
                                    {}, {}, 10'000 * ms);
  EXPECT_EQ(found[0].recovery_ns, 2800 * ms);
}

// The old master keeps granting for a second before the new one leads.
TEST(aftermath, of_a_failover_may_begin_as_long_as_it_takes) {
  const auto grants = grants_at({1050, 1500, 1950, 4000, 4100});
  const auto whole = find_aftermath({{1000 * ms, false, 1200 * ms}}, grants, {}, {}, 10'000 * ms);
  EXPECT_EQ(whole[0].recovery_ns, 3000 * ms);
  const auto disruption = find_aftermath({{1000 * ms, false}}, grants, {}, {}, 10'000 * ms);
  EXPECT_EQ(disruption[0].recovery_ns, 500 * ms);
}

TEST(aftermath, of_a_server_that_nobody_missed_is_a_usual_gap) {
  std::vector<std::int64_t> all_ms;
  for (std::int64_t t = 0; t < 5000; t += 10) all_ms.push_back(t);
  const auto found = find_aftermath({{1000 * ms, false}}, grants_at(all_ms), {}, {}, 5000 * ms);
  ASSERT_TRUE(found[0].recovery_ns);
  EXPECT_LE(*found[0].recovery_ns, settling_ns + 10 * ms);
}

TEST(aftermath, says_where_no_grant_came_any_more) {
  for (const bool on_a_client : {true, false}) {
    const auto found = find_aftermath({{1000 * ms, on_a_client}}, grants_at({500}), {{0, 500 * ms}},
                                      {}, 10'000 * ms);
    EXPECT_FALSE(found[0].recovery_ns) << on_a_client;
  }
}

// Each client has a key of its own. The victim's is not granted for three seconds, which concerns
// the others only if the lock locks more than one key.
TEST(aftermath, of_clients_with_keys_of_their_own_is_that_of_the_others) {
  const disruption pause{1000 * ms, true, 0, 0U, true};
  const auto stopped = [](std::int64_t others_ms) {
    return std::vector<grant_stamp>{{950 * ms, 0, 0},
                                    {960 * ms, 1, 1},
                                    {others_ms * ms, 1, 1, 1060 * ms},
                                    {4001 * ms, 0, 0, 4000 * ms}};
  };
  const auto apart = find_aftermath({pause}, stopped(1062), {}, {}, 8000 * ms)[0];
  EXPECT_EQ(apart.recovery_ns, 62 * ms);
  auto cut_off = stopped(1062);
  cut_off.back().wanted_ns = 1050 * ms;
  EXPECT_EQ(find_aftermath({pause}, cut_off, {}, {}, 8000 * ms)[0].recovery_ns, 62 * ms);
  const auto together = find_aftermath({pause}, stopped(4002), {}, {}, 8000 * ms)[0];
  EXPECT_EQ(together.recovery_ns, 3002 * ms);
  const auto unserved = find_aftermath({pause}, stopped(970), {{1, 1060 * ms}}, {}, 8000 * ms)[0];
  EXPECT_EQ(unserved.recovery_ns, std::nullopt);
  EXPECT_EQ(unserved.keys_never, 1U);
}

// Long holds: the next request comes late, and is granted at once.
TEST(aftermath, of_clients_with_keys_of_their_own_that_ask_late_is_the_next_grant) {
  const std::vector<grant_stamp> grants{{950 * ms, 0, 0},
                                        {960 * ms, 1, 1},
                                        {1961 * ms, 1, 1, 1960 * ms},
                                        {4001 * ms, 0, 0, 4000 * ms}};
  const auto found = find_aftermath({{1000 * ms, true, 0, 0U, true}}, grants, {}, {}, 8000 * ms)[0];
  EXPECT_EQ(found.recovery_ns, 961 * ms);
  EXPECT_EQ(found.asked_ns, 960 * ms);
}

// An overlap belongs to the last disruption before it; a grant ends the time without one of both.
TEST(aftermath, of_two_goes_to_the_next_grant_of_both) {
  const auto found = find_aftermath({{1000 * ms, true}, {2000 * ms, true}}, grants_at({2500}), {},
                                    {1500 * ms, 1600 * ms, 2400 * ms, 9000 * ms}, 10'000 * ms);
  EXPECT_EQ(found[0].recovery_ns, 1500 * ms);
  EXPECT_EQ(found[0].violations, 2U);
  EXPECT_EQ(found[1].recovery_ns, 500 * ms);
  EXPECT_EQ(found[1].violations, 2U);
}

// Three of five masters die within a millisecond: each of them takes part in what follows.
TEST(aftermath, of_servers_that_fail_together_is_that_of_all) {
  const auto grants = grants_at({1990, 6030, 6050, 9000});
  const auto found = find_aftermath({{2000 * ms, false}, {2001 * ms, false}, {2001 * ms, false}},
                                    grants, {{0, 9000 * ms}}, {}, 9001 * ms);
  for (const aftermath& a : found) {
    ASSERT_TRUE(a.recovery_ns);
    EXPECT_NEAR(static_cast<double>(*a.recovery_ns), 4030.0 * ms, 1.0 * ms);
    EXPECT_EQ(a.keys_never, 0U);
  }
}

// Nobody wants the key until a moment after the last of them: all three are in the way then.
TEST(aftermath, of_servers_that_fail_together_may_begin_after_the_last) {
  std::vector<grant_stamp> grants = grants_at({1990, 6030});
  grants[1].wanted_ns = 2050 * ms;
  for (const aftermath& a :
       find_aftermath({{2000 * ms, false}, {2001 * ms, false}, {2002 * ms, false}}, grants, {}, {},
                      9000 * ms)) {
    ASSERT_TRUE(a.recovery_ns);
    EXPECT_NEAR(static_cast<double>(*a.recovery_ns), 4030.0 * ms, 2.0 * ms);
  }
}

// What begins after a later disruption is that one's, and not also that of the first.
TEST(aftermath, of_a_server_does_not_begin_after_the_next_failure) {
  std::vector<std::int64_t> all_ms;
  for (std::int64_t t = 0; t < 1100; t += 10) all_ms.push_back(t);
  for (std::int64_t t = 4000; t < 5000; t += 10) all_ms.push_back(t);
  const auto found = find_aftermath({{900 * ms, false, 2000 * ms}, {1085 * ms, false}},
                                    grants_at(all_ms), {}, {}, 5000 * ms);
  ASSERT_TRUE(found[0].recovery_ns);
  EXPECT_LE(*found[0].recovery_ns, 190 * ms);
  EXPECT_EQ(found[1].recovery_ns, 2915 * ms);
}

TEST(aftermath, is_nothing_without_a_blow) {
  EXPECT_TRUE(find_aftermath({}, grants_at({1, 2, 3}), {}, {2 * ms}, 10 * ms).empty());
}

// One master of a cluster is gone: the keys of the others are granted all the time.
TEST(aftermath, of_a_server_is_that_of_the_last_key) {
  std::vector<grant_stamp> grants;
  for (std::int64_t t = 0; t < 5000; t += 10) {
    grants.push_back({t * ms, 0, 0});
    if (t <= 1000 || t >= 3000) grants.push_back({t * ms, 1, 1});
  }
  const std::vector<disruption> killed{{1000 * ms, false}};
  const auto found = find_aftermath(killed, grants, {}, {}, 5000 * ms);
  EXPECT_EQ(found[0].recovery_ns, 2000 * ms);
  EXPECT_EQ(found[0].keys, 2U);
  EXPECT_EQ(found[0].keys_never, 0U);
  const auto never = find_aftermath(killed, grants, {{2, 900 * ms}}, {}, 5000 * ms);
  EXPECT_FALSE(never[0].recovery_ns);
  EXPECT_EQ(never[0].keys, 3U);
  EXPECT_EQ(never[0].keys_never, 1U);
}

// A key that nobody asks for is not missed.
TEST(aftermath, counts_keys_that_are_wanted) {
  std::vector<grant_stamp> grants = grants_at({990, 1010, 1020});
  grants.push_back({4000 * ms, 1, 1, 3990 * ms});
  const auto found = find_aftermath({{1000 * ms, false}}, grants, {}, {}, 5000 * ms);
  EXPECT_EQ(found[0].recovery_ns, 10 * ms);
  EXPECT_EQ(found[0].keys, 1U);
}

TEST(aftermath, of_a_client_is_that_of_the_key_it_held) {
  std::vector<grant_stamp> grants{{900 * ms, 0, 7}, {1100 * ms, 1, 8}, {2500 * ms, 1, 7}};
  const disruption killed{.at_ns = 1000 * ms, .held_key = 7};
  EXPECT_EQ(find_aftermath({killed}, grants, {}, {}, 5000 * ms)[0].recovery_ns, 1500 * ms);
  grants.pop_back();
  EXPECT_EQ(find_aftermath({killed}, grants, {}, {}, 5000 * ms)[0].recovery_ns, 100 * ms)
      << "nobody asks for it";
  const auto never = find_aftermath({killed}, grants, {{7, 1200 * ms}}, {}, 5000 * ms);
  EXPECT_FALSE(never[0].recovery_ns);
  EXPECT_EQ(never[0].keys_never, 1U);
}

TEST(aftermath, knows_since_when_the_key_was_asked_for) {
  const std::vector<grant_stamp> grants{{900 * ms, 0, 7}, {4000 * ms, 1, 7, 3900 * ms}};
  const disruption killed{.at_ns = 1000 * ms, .held_key = 7};
  EXPECT_EQ(find_aftermath({killed}, grants, {}, {}, 5000 * ms)[0].asked_ns, 2900 * ms);
}

// --- the grants of a run ---

event at(std::int64_t ns, std::uint32_t key, std::uint32_t client) {
  event e;
  e.at_ns = ns;
  e.key = key;
  e.client = client;
  return e;
}

TEST(grant_log, knows_since_when_a_key_was_wanted) {
  grant_log log(2, 3);
  log.began(at(100, 0, 0));
  log.began(at(150, 0, 1));
  log.granted(at(200, 0, 0));
  log.released(at(300, 0, 0));
  log.granted(at(400, 0, 1));
  log.began(at(900, 1, 2));
  log.granted(at(950, 1, 2));
  ASSERT_EQ(log.grants().size(), 3U);
  EXPECT_EQ(log.grants()[0].wanted_ns, 100);
  EXPECT_EQ(log.grants()[0].released_ns, 300);
  EXPECT_EQ(log.grants()[1].wanted_ns, 200) << "somebody waited when it was granted before";
  EXPECT_EQ(log.grants()[2].wanted_ns, 900);
  EXPECT_GT(log.grants()[2].released_ns, 1'000'000) << "not released";
  EXPECT_TRUE(log.unserved().empty());
}

// Clients that give up and ask again want it all the time.
TEST(grant_log, counts_what_was_asked_for_in_vain) {
  grant_log log(2, 2);
  log.began(at(100, 1, 0));
  log.ended(at(200, 1, 0));
  log.began(at(300, 1, 0));
  log.ended(at(400, 1, 0));
  ASSERT_EQ(log.unserved().size(), 1U);
  EXPECT_EQ(log.unserved()[0].key, 1U);
  EXPECT_EQ(log.unserved()[0].wanted_ns, 100);
}

}  // namespace
}  // namespace lockmark::check
