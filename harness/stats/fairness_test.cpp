#include "harness/stats/fairness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "harness/stats/invocation_order.hpp"
#include "harness/stats/random.hpp"

namespace lockmark::stats {
namespace {

constexpr std::int64_t ms = 1'000'000;

// Clients that invoke again as soon as they release; a rule chooses the next owner.
// `choose(waiting)` gets the waiting clients in order of arrival and returns the position of one.
template <typename chooser>
fairness_totals simulate(std::uint32_t clients, int grants, chooser&& choose) {
  struct waiter {
    std::uint32_t client;
    std::int64_t invoked_ns;
  };
  std::deque<waiter> waiting;
  for (std::uint32_t c = 0; c < clients; ++c) waiting.push_back({c, c});
  fairness_totals totals;
  key_fairness key(clients);
  std::int64_t now_ns = clients;
  for (int i = 0; i < grants; ++i) {
    const auto place = static_cast<std::ptrdiff_t>(choose(waiting));
    const waiter winner = waiting[static_cast<std::size_t>(place)];
    waiting.erase(waiting.begin() + place);
    key.grant(totals, winner.client, winner.invoked_ns, now_ns);
    waiting.push_back({winner.client, now_ns += ms});
  }
  key.finish(totals);
  return totals;
}

// R12: first come, first served is fair by every measure.
TEST(fairness, of_a_queue_is_perfect) {
  const fairness_totals t = simulate(16, 16'000, [](const auto&) { return std::size_t{0}; });
  EXPECT_GE(t.jain_windowed(), 0.99);
  EXPECT_DOUBLE_EQ(t.jain_run(), 1.0);
  EXPECT_EQ(t.bypass().max_ns(), 0);
  EXPECT_EQ(t.bypass().count(), 16'000);
  EXPECT_DOUBLE_EQ(t.owner_change_share(), 1.0);
  EXPECT_DOUBLE_EQ(t.working_set_size(), 16.0);
  EXPECT_EQ(t.reacquire_distance().value_at_quantile(0.5), 16);
}

// R12: a lock that serves one client for a long time and then the next looks fair only over the
// whole run; the windows, the owner changes and the bypass counts reveal it.
TEST(fairness, of_a_greedy_lock_is_seen_in_windows) {
  int served = 0;
  const fairness_totals t = simulate(16, 16 * 2'000, [&](const auto& waiting) {
    const bool next = served++ % 200 == 0;
    return next ? std::size_t{0} : waiting.size() - 1;
  });
  EXPECT_GT(t.jain_run(), 0.9);
  EXPECT_LT(t.jain_windowed(), 0.4);
  EXPECT_LT(t.owner_change_share(), 0.01);
  EXPECT_LT(t.working_set_size(), 2.1);
  EXPECT_EQ(t.reacquire_distance().value_at_quantile(0.5), 1);
  EXPECT_NEAR(static_cast<double>(t.bypass().max_ns()), 15 * 199, 30);
  EXPECT_EQ(t.longest_wait_ns() / ms, 15 * 200);
}

// A fair lottery: equal over the run, about 0.8 in windows, as stated in the header.
TEST(fairness, of_a_lottery_is_fair_on_average) {
  random_source rng(4);
  const fairness_totals t =
      simulate(16, 64'000, [&](const auto& waiting) { return rng.below(waiting.size()); });
  EXPECT_GT(t.jain_run(), 0.99);
  EXPECT_NEAR(t.jain_windowed(), 0.8, 0.03);
  EXPECT_NEAR(t.owner_change_share(), 15.0 / 16, 0.01);
}

// Three clients, by hand. Invocations: A at 0, B at 1, C at 2; then A again at 11, A again at 21.
// Grants: A, A (overtakes B and C), C (overtakes B), A (overtakes B), B.
TEST(fairness, of_a_trace_computed_by_hand) {
  fairness_totals t;
  key_fairness key(3);
  key.grant(t, 0, 0, 5);
  key.grant(t, 0, 11, 15);
  key.grant(t, 2, 2, 25);
  key.grant(t, 0, 21, 35);
  key.grant(t, 1, 1, 45);
  EXPECT_EQ(key.grants(), 5);
  EXPECT_EQ(key.shares().size(), 3u);
  key.finish(t);
  EXPECT_EQ(t.grants(), 5);
  // Overtaken: A 0, A 0, C 1 (by A's second), A 0, B 3 (A's second, C, A's third).
  EXPECT_EQ(t.bypass().count_at_or_below(0), 3);
  EXPECT_EQ(t.bypass().max_ns(), 3);
  EXPECT_EQ(t.bypass().sum_ns(), 4);
  EXPECT_DOUBLE_EQ(t.owner_change_share(), 3.0 / 4);
  EXPECT_DOUBLE_EQ(t.jain_run(), 25.0 / (3 * (9 + 1 + 1)));
  EXPECT_EQ(t.reacquire_distance().count(), 2);  // A after 1 grant, and after 2
  EXPECT_EQ(t.reacquire_distance().sum_ns(), 3);
  EXPECT_EQ(t.longest_wait_ns(), 44);
  EXPECT_TRUE(std::isnan(t.jain_windowed()));  // no whole window of 12 grants
  EXPECT_TRUE(std::isnan(t.working_set_size()));
}

// A client that never got the key shows in the longest wait, and as a competitor in Jain's index.
TEST(fairness, counts_who_got_nothing) {
  fairness_totals t;
  key_fairness key(4);
  for (int i = 0; i < 32; ++i) key.grant(t, 9, i * ms, i * ms + 1);
  key.finish(t);
  t.add_unfinished(32 * ms);
  EXPECT_DOUBLE_EQ(t.jain_run(), 0.25);
  EXPECT_DOUBLE_EQ(t.jain_windowed(), 0.25);
  EXPECT_DOUBLE_EQ(t.working_set_size(), 1.0);
  EXPECT_EQ(t.longest_wait_ns(), 32 * ms);
}

// A key with one client is fair, and costs no memory.
TEST(fairness, of_an_own_key_is_trivial) {
  fairness_totals t;
  key_fairness key(1);
  for (int i = 0; i < 10; ++i) key.grant(t, 5, i * 10, i * 10 + 3);
  key.finish(t);
  EXPECT_EQ(t.grants(), 10);
  EXPECT_DOUBLE_EQ(t.jain_run(), 1.0);
  EXPECT_DOUBLE_EQ(t.jain_windowed(), 1.0);
  EXPECT_EQ(t.windows(), 2);
  EXPECT_DOUBLE_EQ(t.owner_change_share(), 0.0);
  EXPECT_EQ(t.bypass().count(), 10);
  EXPECT_EQ(t.reacquire_distance().count(), 9);
  EXPECT_EQ(t.longest_wait_ns(), 3);
  EXPECT_LE(sizeof(key_fairness), 32u);
}

// Without data the result is NaN, rather than zero.
TEST(fairness, of_nothing_is_not_a_number) {
  fairness_totals t;
  key_fairness(3).finish(t);
  EXPECT_TRUE(std::isnan(t.jain_run()));
  EXPECT_TRUE(std::isnan(t.owner_change_share()));
}

// Two keys in one totals object, or in two that are merged, give the same; each weighs by its
// grants.
TEST(fairness, adds_up_over_keys) {
  const auto feed = [](fairness_totals& t, std::uint32_t clients, int grants) {
    key_fairness key(2);
    for (int i = 0; i < grants; ++i) {
      key.grant(t, static_cast<std::uint32_t>(i) % clients, i * ms, i * ms + 1);
    }
    key.finish(t);
  };
  fairness_totals together, first, second;
  feed(together, 1, 300);
  feed(together, 2, 100);
  feed(first, 1, 300);
  feed(second, 2, 100);
  first.merge(second);
  for (const fairness_totals* t : {&together, &first}) {
    EXPECT_EQ(t->grants(), 400);
    EXPECT_NEAR(t->jain_run(), (300 * 0.5 + 100 * 1.0) / 400, 1e-12);
    EXPECT_NEAR(t->jain_windowed(), (37 * 0.5 + 12 * 1.0) / 49, 1e-12);
    EXPECT_NEAR(t->owner_change_share(), 99.0 / 398, 1e-12);
  }
  EXPECT_EQ(together.bypass(), first.bypass());
}

// More clients than the table's initial size: none is lost or mixed up.
TEST(fairness, keeps_many_clients_apart) {
  fairness_totals t;
  key_fairness key(1'000);
  for (std::uint32_t i = 0; i < 3'000; ++i) key.grant(t, i % 1'000 * 4096, i, i);
  EXPECT_EQ(key.shares().size(), 1'000u);
  for (const key_fairness::share& s : key.shares()) EXPECT_EQ(s.grants, 3);
  key.finish(t);
  EXPECT_DOUBLE_EQ(t.jain_run(), 1.0);
}

// The sorted array agrees with brute-force counting while it is exact.
TEST(invocation_order, agrees_with_brute_force) {
  random_source rng(8);
  invocation_order order(16);
  std::vector<std::int64_t> seen;
  for (std::int64_t i = 0; i < 5'000; ++i) {
    const std::int64_t invoked = i * 10 - static_cast<std::int64_t>(rng.below(2'000));
    const auto expected =
        std::count_if(seen.begin(), seen.end(), [&](std::int64_t s) { return s > invoked; });
    ASSERT_EQ(order.add(invoked), expected);
    seen.push_back(invoked);
  }
}

// Counts far beyond the stamps kept stay close.
TEST(invocation_order, interpolates_what_it_discarded) {
  invocation_order order(2);
  for (std::int64_t i = 1; i <= 100'000; ++i) order.add(i * 7);
  for (std::int64_t overtakers : {200, 1'000, 5'003, 50'000, 99'999}) {
    const std::int64_t counted = order.add((100'000 - overtakers) * 7 + 3);
    EXPECT_NEAR(static_cast<double>(counted), static_cast<double>(overtakers), 4);
  }
}

// Ten seconds in which these clients had grants.
client_outcomes::summary summarised(const client_outcomes& all, std::vector<std::uint64_t> grants,
                                    std::int64_t limit_ns = 1'000 * ms) {
  return all.summarised({10'000 * ms, grants, limit_ns});
}

std::vector<std::uint64_t> first_four_of(std::size_t clients) {
  std::vector<std::uint64_t> grants(clients);
  std::fill_n(grants.begin(), 4, 5'000);
  return grants;
}

// 4 of 16 clients take all grants and 12 time out each second: 99.6 % of all attempts succeed.
client_outcomes four_of_sixteen() {
  client_outcomes all(16);
  for (std::uint32_t client = 0; client < 16; ++client) {
    for (int i = 0; i < 5'000 && client < 4; ++i) all.granted(client, 2 * ms);
    for (int i = 0; i < 7 && client >= 4; ++i) all.not_granted(client, 1'000 * ms);
  }
  return all;
}

TEST(client_outcomes, finds_who_starves) {
  const auto found = summarised(four_of_sixteen(), first_four_of(16));
  EXPECT_EQ(found.attempted, 16U);
  EXPECT_EQ(found.never_granted, 12U);
  ASSERT_TRUE(found.lowest_success);
  EXPECT_EQ(found.lowest_success->client, 4U);
  EXPECT_EQ(found.lowest_success->attempts, 7);
  EXPECT_EQ(found.lowest_success->granted, 0);
}

// Seven attempts support no p99, but seven time-outs say that it exceeds T.
TEST(client_outcomes, knows_that_a_starving_clients_p99_exceeds_t) {
  const auto p99 = summarised(four_of_sixteen(), first_four_of(16)).highest_p99;
  ASSERT_TRUE(p99);
  EXPECT_EQ(p99->client, 4U);
  EXPECT_TRUE(p99->supported);
  EXPECT_EQ(p99->value, (quantile_ns{1'000 * ms, true}));
}

// The highest p99 may be that of a client which succeeds always, and the other way round.
TEST(client_outcomes, looks_for_each_worst_on_its_own) {
  client_outcomes all(3);
  for (int i = 0; i < 1'000; ++i) {
    all.granted(0, 2 * ms);
    all.granted(1, i % 50 == 0 ? 30 * ms : 2 * ms);
    if (i < 996) all.granted(2, 2 * ms);
  }
  for (int i = 0; i < 4; ++i) all.not_granted(2, 1'000 * ms);
  const auto found = summarised(all, {1'000, 1'000, 996});
  EXPECT_EQ(found.never_granted, 0U);
  EXPECT_EQ(found.lowest_success->client, 2U);
  EXPECT_EQ(found.lowest_success->granted, 996);
  EXPECT_EQ(found.highest_p99->client, 1U);
  EXPECT_NEAR(static_cast<double>(found.highest_p99->value.value_ns), 30 * ms, 0.3 * ms);
  EXPECT_FALSE(found.highest_p99->value.censored);
}

// A slow client with too few attempts: the others' p99 would be no upper bound, so there is none.
TEST(client_outcomes, prints_no_p99_that_is_not_supported) {
  client_outcomes all(2);
  for (int i = 0; i < 1'000; ++i) all.granted(0, 2 * ms);
  for (int i = 0; i < 100; ++i) all.granted(1, 40 * ms);
  const auto p99 = summarised(all, {1'000, 100}).highest_p99;
  EXPECT_EQ(p99->client, 1U);
  EXPECT_EQ(p99->attempts, 100);
  EXPECT_FALSE(p99->supported);
}

// Who tried once or twice does not starve, unless that took most of the run.
TEST(client_outcomes, lets_nobody_starve_who_hardly_tried) {
  client_outcomes all(4);
  for (int i = 0; i < 10; ++i) all.granted(0, ms);
  for (int i = 0; i < 4; ++i) all.not_granted(1, ms);
  for (int i = 0; i < 2; ++i) all.not_granted(2, 3'000 * ms);
  const auto found = summarised(all, {10, 0, 0, 0}, 3'000 * ms);
  EXPECT_EQ(found.attempted, 3U);
  EXPECT_EQ(found.never_granted, 1U);
  EXPECT_EQ(found.lowest_success->client, 2U);
}

// Thousands of clients have a share each, but no quantiles.
TEST(client_outcomes, is_frugal_with_many_clients) {
  client_outcomes all(client_outcomes::most_with_quantiles + 1);
  for (int i = 0; i < 1'000; ++i) all.granted(7, ms);
  const auto found = summarised(all, std::vector<std::uint64_t>(500, 1));
  EXPECT_TRUE(found.too_many_for_quantiles);
  EXPECT_FALSE(found.highest_p99);
  EXPECT_EQ(found.lowest_success->attempts, 1'000);
}

// When the others have stopped, who starved gets the lock at last: by the count of its attempts it
// succeeded once, and it starved all the same.
TEST(client_outcomes, takes_no_grant_after_the_window_for_a_meal) {
  client_outcomes all = four_of_sixteen();
  all.granted(15, 900 * ms);
  const auto found = summarised(all, first_four_of(16));
  EXPECT_EQ(found.never_granted, 12U);
}

// Of several clients whose p99 exceeds T the one that is shown has the attempts to say so.
TEST(client_outcomes, prefers_a_p99_that_is_supported) {
  client_outcomes two(2);
  for (int i = 0; i < 100; ++i) two.granted(0, ms);
  for (int i = 0; i < 2; ++i) two.not_granted(0, 1'000 * ms);
  for (int i = 0; i < 7; ++i) two.not_granted(1, 1'000 * ms);
  const auto p99 = summarised(two, {100, 0}).highest_p99;
  EXPECT_EQ(p99->client, 1U) << "2 of 102 may be chance";
  EXPECT_TRUE(p99->supported);
}

}  // namespace
}  // namespace lockmark::stats
