// Whole sessions of the gate, simulated: when they end, what they decide, and what they say. How
// often they err is in session_simulation_test.cpp.
#include "harness/gate/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/gate/simulated_session.hpp"

namespace lockmark::gate {
namespace {

using stats::random_source;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// With a spread of 0.19, ten pairs are blind below 27 %, thirty below 22 %.
TEST(gate_power, takes_more_pairs_where_these_will_tell) {
  random_source random(3);
  simulation s{normal(0.19)};
  s.metrics = {{"acquire_p50"}};
  int longer = 0, passed = 0;
  for (int i = 0; i < 200; ++i) {
    const conclusion c = s.run(random);
    if (c.pairs == first_pairs) continue;
    ++longer;
    passed += c.how == decision::pass ? 1 : 0;
  }
  EXPECT_GE(longer, 80);
  EXPECT_GE(passed, longer * 8 / 10);  // the new pairs may turn out to have a larger spread
}

TEST(gate_power, passes_what_has_become_better) {
  const simulation better{normal(0.05), 0, {-0.20, -0.20, -0.20}};
  EXPECT_EQ(better.count(decision::pass, 200), 200);
}

// R19: one more command per acquire, in one pair.
TEST(gate_counters, end_the_session_at_once) {
  random_source random(1);
  const simulation s{normal(1.0), 0, {0, 0, 0, 0, 0, 0.5}};
  const conclusion c = s.run(random);
  EXPECT_EQ(c.how, decision::regression);
  EXPECT_EQ(c.pairs, 1U);
  EXPECT_THAT(c.reasons, Contains(HasSubstr("commands_per_acquire: a count that does not vary")));
}

TEST(gate_counters, alone_need_no_other_pair) {
  random_source random(1);
  simulation s;
  std::erase_if(s.metrics, [](const metric& m) { return !m.exact; });
  const conclusion c = s.run(random);
  EXPECT_EQ(c.how, decision::pass);
  EXPECT_EQ(c.pairs, 1U);
}

TEST(gate_violations, are_a_regression_in_one_pair) {
  random_source random(1);
  const simulation s;
  session of(s.metrics);
  pair p = s.one_pair(random);
  p.candidate.violations = 2;
  of.add(p);
  EXPECT_FALSE(of.wants_more());
  EXPECT_EQ(of.conclude().how, decision::regression);
}

// A broken old lock is not the new one's fault, but must be reported.
TEST(gate_violations, of_the_baseline_are_told) {
  random_source random(1);
  const simulation s;
  session of(s.metrics);
  while (of.wants_more()) {
    pair p = s.one_pair(random);
    p.baseline.violations = 1;
    of.add(p);
  }
  EXPECT_EQ(of.conclude().how, decision::pass);
  EXPECT_THAT(of.conclude().notes, Contains(HasSubstr("10 violations")));
}

// R20: only the control is slower with the candidate.
TEST(gate_control, that_differs_makes_it_inconclusive) {
  simulation s{normal(0.03)};
  s.control_effect = -0.10;
  EXPECT_EQ(s.count(decision::inconclusive, 100), 100);
  s.effects = {0.5, 0.5, 0.5};
  EXPECT_EQ(s.count(decision::inconclusive, 100), 100);  // never a divisor, never an excuse
  s.effects = {0, 0, 0, 0, 0, 0.5};
  EXPECT_EQ(s.count(decision::regression, 100), 100);  // counts do not depend on the machine
}

TEST(gate_control, that_differs_a_little_does_not_matter) {
  simulation s{normal(0.03)};
  s.control_effect = 0.02;
  EXPECT_EQ(s.count(decision::inconclusive, 100), 0);
}

TEST(gate_stored, fails_a_timing_from_ten_runs_on_and_warns_before) {
  random_source random(1);
  simulation s{normal(0.05), 0, {1.0}};
  s.stored = 10;
  EXPECT_EQ(s.run(random).how, decision::regression);
  s.stored = 9;
  const conclusion few = s.run(random);
  EXPECT_EQ(few.how, decision::warning);
  EXPECT_EQ(few.stored, 9U);
  EXPECT_THAT(few.reasons, Contains(HasSubstr("acquire_p50: worse by")));
  s.effects = {};
  EXPECT_EQ(s.run(random).how, decision::pass);
}

// One run may be off by anything.
TEST(gate_stored, neither_blames_nor_clears_by_one_run) {
  random_source random(1);
  for (const double effect : {0.0, 9.0}) {
    simulation s{normal(0.05), 0, {effect}};
    s.stored = 1;
    const conclusion c = s.run(random);
    EXPECT_EQ(c.how, decision::inconclusive);
    EXPECT_THAT(c.reasons, Contains(HasSubstr(
                               "acquire_p50, acquire_p99, throughput, success_rate, handoff_p50: 1 "
                               "stored run cannot tell how much the baseline varies")));
  }
}

// A count is compared with the worst of the stored ones, and one run decides.
TEST(gate_stored, fails_a_count_by_one_run) {
  random_source random(1);
  for (const std::size_t stored : {1, 12}) {
    simulation s{normal(1.0), 0, {0, 0, 0, 0, 0, 0.5}};
    s.stored = stored;
    const conclusion c = s.run(random);
    EXPECT_EQ(c.how, decision::regression);
    EXPECT_EQ(c.pairs, 1U);
  }
}

TEST(gate_session, that_is_spoiled_is_inconclusive) {
  random_source random(1);
  const simulation s;
  session of(s.metrics);
  for (int i = 0; i < 4; ++i) of.add(s.one_pair(random));
  of.spoil("interrupted after 4 pairs");
  EXPECT_FALSE(of.wants_more());
  EXPECT_EQ(of.conclude().how, decision::inconclusive);
  EXPECT_THAT(of.conclude().reasons, Contains("interrupted after 4 pairs"));
}

TEST(gate_session, of_which_nothing_came_has_no_metrics) {
  session of(known_metrics(true));
  of.spoil("interrupted");
  EXPECT_THAT(of.conclude().metrics, IsEmpty());
  EXPECT_EQ(of.conclude().how, decision::inconclusive);
}

}  // namespace
}  // namespace lockmark::gate
