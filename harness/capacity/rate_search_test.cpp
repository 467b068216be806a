#include "harness/capacity/rate_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace lockmark::capacity {
namespace {

constexpr double allowed_share = 0.01;

probe_result found(double share, double low, double high, double worth = 1000) {
  probe_result r;
  r.objectives.push_back({allowed_share, {share, low, high, 1000, worth}});
  return r;
}
probe_result passing() {
  return found(0.001, 0, 0.005);
}
probe_result failing() {
  return found(0.5, 0.4, 0.6);
}
probe_result unclear() {
  return found(0.01, 0.005, 0.02);
}
// Clearly passing below a rate, clearly failing above it.
probe_result with_an_edge_at(double edge_per_s, double rate_per_s) {
  return rate_per_s < edge_per_s ? passing() : failing();
}

TEST(rate_search, ends_without_a_rate_where_none_will_do) {
  rate_search search(100, 200, 0.1);
  int probes = 0;
  double last = 0;
  for (; const auto p = search.next(); ++probes) {
    last = p->rate_per_s;
    search.tell(failing());
  }
  EXPECT_FALSE(search.rate_per_s());
  EXPECT_DOUBLE_EQ(last, 0.1);
  EXPECT_LT(probes, 50);
}

// A lock that keeps its objective until the confirmation.
TEST(rate_search, ends_without_a_rate_where_none_is_confirmed) {
  rate_search search(100, 200, 0.1);
  int probes = 0;
  for (; const auto p = search.next(); ++probes) search.tell(p->confirms ? failing() : passing());
  EXPECT_FALSE(search.rate_per_s());
  EXPECT_LT(probes, 50);
}

TEST(rate_search, stops_at_the_bound_where_everything_passes) {
  rate_search search(100, 200, 0.1);
  while (search.next()) search.tell(passing());
  ASSERT_TRUE(search.rate_per_s());
  EXPECT_DOUBLE_EQ(*search.rate_per_s(), 200);
  EXPECT_FALSE(search.edge_below_per_s());
}

// However good it looks at first, and with more certainty than a probe.
TEST(rate_search, confirms_from_the_third_look_on) {
  rate_search search(100, 200, 0.1);
  while (!search.next()->confirms) search.tell(passing());
  EXPECT_DOUBLE_EQ(search.next()->doubt, rate_search::doubt_confirming);
  for (const double length : {2, 2}) {
    EXPECT_DOUBLE_EQ(search.next()->length, length);
    EXPECT_EQ(search.tell(passing()), outcome::unclear);
  }
  EXPECT_DOUBLE_EQ(search.next()->length, 4);
  EXPECT_EQ(search.next()->looks_before, 2);
  EXPECT_EQ(search.tell(passing()), outcome::passes);
  EXPECT_FALSE(search.next());
}

TEST(rate_search, confirms_a_little_below_a_clear_edge) {
  rate_search search(100, 200, 0.1);
  while (const auto p = search.next()) search.tell(with_an_edge_at(70, p->rate_per_s));
  ASSERT_TRUE(search.rate_per_s());
  EXPECT_LT(*search.rate_per_s(), 70);
  EXPECT_GT(*search.rate_per_s(), 0.93 * 70);
  EXPECT_GT(*search.edge_below_per_s(), *search.rate_per_s());
  EXPECT_LT(*search.edge_below_per_s(), 1.05 * 70);
}

// A rate that fails its confirmation is not the answer; nor is one just below it.
TEST(rate_search, goes_lower_if_the_confirmation_fails) {
  rate_search search(100, 200, 0.1);
  double failed = 0;
  while (const auto p = search.next()) {
    const bool fails = p->confirms && failed == 0;
    if (fails) failed = p->rate_per_s;
    search.tell(fails ? found(0.02, 0.012, 0.03) : with_an_edge_at(150, p->rate_per_s));
  }
  ASSERT_TRUE(search.rate_per_s());
  EXPECT_GT(failed, 0);
  EXPECT_LT(*search.rate_per_s(), failed / 1.009);
  EXPECT_GT(*search.rate_per_s(), failed / 1.2);
}

// A busy machine takes a fifth of the capacity once the edge is known, to a per cent and steep.
TEST(rate_search, goes_down_faster_the_more_confirmations_fail) {
  rate_search search(100, 200, 0.1);
  int confirmed = 0;
  while (const auto p = search.next()) {
    confirmed += p->confirms && p->looks_before == 0 ? 1 : 0;
    search.tell(with_an_edge_at(p->confirms ? 120 : 150, p->rate_per_s));
  }
  ASSERT_TRUE(search.rate_per_s()) << "after " << confirmed << " confirmations";
  EXPECT_LT(*search.rate_per_s(), 120);
  EXPECT_GT(*search.rate_per_s(), 100);
  EXPECT_LT(confirmed, 12);
}

// A rate that cannot become clear in the time left is given up at once; one that can gets a longer
// look.
TEST(rate_search, gives_up_a_confirmation_that_would_hardly_pass) {
  rate_search hopeful(100, 200, 0.1), hopeless(100, 200, 0.1);
  for (rate_search* s : {&hopeful, &hopeless}) {
    while (!s->next()->confirms) s->tell(passing());
  }
  hopeful.tell(found(0.006, 0.001, 0.02));
  EXPECT_EQ(hopeful.next()->looks_before, 1);
  EXPECT_DOUBLE_EQ(hopeful.next()->rate_per_s, 200);
  hopeless.tell(unclear());
  EXPECT_EQ(hopeless.next()->looks_before, 0);
  EXPECT_LT(hopeless.next()->rate_per_s, 200);
}

// It takes all the looks there are, and no more.
TEST(rate_search, ends_looking_at_what_stays_unclear) {
  rate_search search(100, 200, 0.1);
  while (!search.next()->confirms) search.tell(passing());
  for (int look = 0; look < rate_search::most_looks; ++look) {
    EXPECT_EQ(search.next()->looks_before, look);
    const double worth = 1000 * std::exp2(look);
    EXPECT_EQ(search.tell(found(0.006, 0.001, 0.02, worth)), outcome::unclear);
  }
  EXPECT_EQ(search.next()->looks_before, 0);
}

// Attempts that were never begun are missing from the late ones, which then look few.
TEST(rate_search, takes_dropped_attempts_for_late_ones) {
  rate_search search(100, 200, 0.1);
  while (const auto p = search.next()) {
    probe_result r = passing();
    r.dropped = p->rate_per_s < 70 ? 0 : 5;
    search.tell(r);
  }
  ASSERT_TRUE(search.rate_per_s());
  EXPECT_LT(*search.rate_per_s(), 70);
}

// The strictest objective decides.
TEST(rate_search, confirms_below_the_lowest_of_several_edges) {
  rate_search search(100, 200, 0.1);
  while (const auto p = search.next()) {
    probe_result r = with_an_edge_at(120, p->rate_per_s);
    r.objectives.push_back(with_an_edge_at(70, p->rate_per_s).objectives.front());
    search.tell(r);
  }
  ASSERT_TRUE(search.rate_per_s());
  EXPECT_LT(*search.rate_per_s(), 70);
  EXPECT_GT(*search.rate_per_s(), 0.9 * 70);
}

// A growing queue shows in its slope before any attempt is late.
TEST(rate_judgement, takes_no_growing_backlog_for_a_pass) {
  stretches run{{}, 0.5};
  for (int i = 0; i < 120; ++i) run.parts.push_back({1000, 0, 0.1 * i + (i % 3) * 0.05});
  probe_result r = passing();
  r.backlog = bound_growth(std::vector{run}, rate_search::doubt);
  EXPECT_NEAR(r.backlog.per_s, 0.2, 0.01);
  EXPECT_GT(r.backlog.low, 0);
  EXPECT_EQ(judge(r), outcome::unclear);
}

TEST(rate_judgement, needs_more_than_a_good_quantile) {
  probe_result r = passing();
  EXPECT_EQ(judge(r), outcome::passes);
  r.granted_share = 0.98;
  EXPECT_EQ(judge(r), outcome::fails);
  r = passing();
  r.dropped = 1;
  EXPECT_EQ(judge(r), outcome::fails);
  r = passing();
  r.backlog.low = 0.5;
  EXPECT_EQ(judge(r), outcome::unclear);
}

// One failing objective is enough to fail; to pass, all must hold.
TEST(rate_judgement, asks_every_objective) {
  probe_result r = passing();
  r.objectives.push_back(unclear().objectives.front());
  EXPECT_EQ(judge(r), outcome::unclear);
  r.objectives.push_back(failing().objectives.front());
  EXPECT_EQ(judge(r), outcome::fails);
}

}  // namespace
}  // namespace lockmark::capacity
