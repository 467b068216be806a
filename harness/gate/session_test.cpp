// Whole sessions of the gate, simulated: the rates of false alarms, of found regressions, and of
// sessions that report that they could not have found one.
#include "harness/gate/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "harness/gate/metrics.hpp"
#include "harness/stats/random.hpp"

namespace lockmark::gate {
namespace {

using stats::random_source;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// The ln of the ratio of two runs, without a difference between their sides.
using noise = std::function<double(random_source&)>;

noise normal(double spread) {
  return [spread](random_source& r) { return r.normal(0, spread); };
}

// One run in eight takes three times as long, as on a shared machine.
double with_outliers(random_source& r) {
  const double outlier = r.below(8) == 0 ? std::log(3.0) : 0;
  return r.normal(0, 0.05) + (r.below(2) == 0 ? outlier : -outlier);
}

// All metrics of the gate; counts never vary.
struct simulation {
  noise noise_of = normal(0.05);
  double shared = 0;                 // the part of the noise common to all metrics, 0 to 1
  std::vector<double> effects = {};  // relative, by metric
  double control_effect = 0;         // how much faster the control is with the candidate
  std::vector<metric> metrics = known_metrics(true);

  conclusion run(random_source& random) const {
    session s(metrics);
    while (s.wants_more()) s.add(one_pair(random));
    return s.conclude();
  }

  pair one_pair(random_source& random) const {
    pair p;
    const double common = noise_of(random);
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      double difference = shared * common + (1 - shared) * noise_of(random);
      if (metrics[m].exact) difference = 0;
      const double effect = std::log1p(m < effects.size() ? effects[m] : 0) + difference;
      p.baseline.values.push_back(100);
      p.candidate.values.push_back(100 * std::exp(metrics[m].higher_is_better ? -effect : effect));
    }
    p.baseline.control = 1000;
    p.candidate.control = 1000 * (1 + control_effect) * std::exp(random.normal(0, 0.01));
    return p;
  }

  int count(decision wanted, int sessions, std::uint64_t seed = 7) const {
    random_source random(seed);
    int found = 0;
    for (int i = 0; i < sessions; ++i) found += run(random).how == wanted ? 1 : 0;
    return found;
  }
};

// R18: at most 0.3 % of sessions, over all metrics together, whether they depend on each other or
// not.
TEST(gate_alarms, are_rare_without_a_difference) {
  for (const noise& n : {normal(0.05), normal(0.10), normal(0.30), noise(with_outliers)}) {
    EXPECT_LE((simulation{n}).count(decision::regression, 2000, 11), 6);
    EXPECT_LE((simulation{n, 1}).count(decision::regression, 2000, 12), 6);
  }
}

// The promise does not depend on the tolerances: it holds with none at all.
TEST(gate_alarms, are_rare_even_if_nothing_is_tolerated) {
  simulation strict{normal(0.10)};
  for (metric& m : strict.metrics) m.tolerated = m.exact ? m.tolerated : 0;
  EXPECT_LE(strict.count(decision::regression, 2000), 6);
}

// One metric alone is a fifth worse; the others are unchanged.
TEST(gate_power, finds_a_fifth_more_in_nearly_every_session) {
  EXPECT_GE((simulation{normal(0.10), 0, {0.20}}).count(decision::regression, 1000), 980);
}

TEST(gate_power, does_not_mind_what_is_tolerated) {
  EXPECT_LE((simulation{normal(0.03), 0, {0.02}}).count(decision::regression, 1000), 3);
}

// A session too noisy to have seen a regression must not pass.
TEST(gate_power, says_when_it_could_not_have_seen_anything) {
  const simulation noisy{normal(1.0)};
  EXPECT_GE(noisy.count(decision::inconclusive, 1000), 990);
  EXPECT_EQ(noisy.count(decision::pass, 1000), 0);
}

// With a spread of 0.2, ten pairs are blind below 31 %, thirty below 17 %.
TEST(gate_power, takes_more_pairs_where_these_will_tell) {
  random_source random(3);
  simulation s{normal(0.20)};
  s.metrics = {{"acquire_p50"}};
  int longer = 0, passed = 0;
  for (int i = 0; i < 200; ++i) {
    const conclusion c = s.run(random);
    if (c.pairs == first_pairs) continue;
    ++longer;
    passed += c.how == decision::pass ? 1 : 0;
  }
  EXPECT_GE(longer, 100);
  EXPECT_GE(passed, longer * 9 / 10);  // the new pairs may turn out to have a larger spread
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
