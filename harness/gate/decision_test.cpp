// One metric: the direction of its differences, what pairs can and cannot show, and their order.
#include "harness/gate/decision.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "harness/gate/session.hpp"
#include "harness/stats/random.hpp"

namespace lockmark::gate {
namespace {

using testing::ElementsAre;

TEST(gate_direction, is_turned_where_more_is_better) {
  metric throughput{"throughput"};
  throughput.higher_is_better = true;
  EXPECT_GT(worsening(throughput, 100, 80), 0);
  EXPECT_LT(worsening({"p50"}, 100, 80), 0);
}

TEST(gate_counters, are_worse_beyond_what_is_tolerated) {
  metric commands{"commands_per_acquire"};
  commands.exact = true;
  commands.tolerated = 0.005;
  EXPECT_TRUE(exactly_worse(commands, worsening(commands, 2, 3)));
  EXPECT_FALSE(exactly_worse(commands, worsening(commands, 2, 2.001)));
  EXPECT_FALSE(exactly_worse(commands, worsening(commands, 3, 2)));
}

// Ten differences as evenly spread as a normal distribution: its quantiles.
std::vector<double> ten_around(double middle, double spread) {
  std::vector<double> all;
  for (const double q : {0.131, 0.402, 0.702, 1.071, 1.656}) {
    all.push_back(middle + spread * q);
    all.push_back(middle - spread * q);
  }
  return all;
}

assessment assessed(const metric& m, const std::vector<double>& differences) {
  return assess(m, rank_shift::of_pairs(differences), 0.95);
}

// With a spread of 0.10 ten pairs accuse from 6 % on, and a worsening must be 7 % larger to be
// there nearly always; a larger tolerance is added to that, not hidden in it.
TEST(gate_blind_spot, counts_spread_and_tolerance) {
  metric m{"p50"};
  m.tolerated = 0;
  const double without = assessed(m, ten_around(0, 0.1)).blind_spot;
  EXPECT_NEAR(without, 0.146, 0.005);
  EXPECT_NEAR(assessed(m, ten_around(0, 0.05)).blind_spot, without / 2, 0.01);
  m.tolerated = 0.20;
  EXPECT_NEAR(assessed(m, ten_around(0, 0.1)).blind_spot, 1.2 * std::exp(0.074) - 1, 0.005);
  EXPECT_NEAR(assessed(m, std::vector<double>(10, 0.0)).blind_spot, 0.20, 1e-9);
}

// What is not worse has its upper bound at the detectable worsening at most.
TEST(gate_blind_spot, is_ruled_out_by_what_is_not_worse) {
  const metric m{"p50"};
  for (const double effect : {-0.05, 0.0, 0.04, 0.05, 0.06, 0.08, 0.2}) {
    const auto differences = ten_around(effect, 0.1);
    const assessment a = assessed(m, differences);
    const double most = rank_shift::of_pairs(differences).upper_bound(0.975);
    EXPECT_EQ(a.worse, std::expm1(most) > a.blind_spot + 1e-12) << effect;
  }
}

// Bounds enclose the effect, and one pair gives no bound.
TEST(gate_bounds, are_as_wide_as_the_pairs_are_few) {
  const std::vector<double> ten{0.10, 0.11, 0.12, 0.09, 0.13, 0.08, 0.10, 0.12, 0.11, 0.10};
  const assessment a = assessed({"p50"}, ten);
  EXPECT_LT(a.least, a.effect);
  EXPECT_GT(a.most, a.effect);
  EXPECT_TRUE(a.worse);
  const assessment one = assessed({"p50"}, {0.1});
  EXPECT_FALSE(one.worse);
  EXPECT_LE(one.least, -1);
  EXPECT_TRUE(std::isinf(one.blind_spot));
}

// A pair in which the candidate takes so much longer in every metric.
pair one_pair(std::size_t metrics, double effect = 0) {
  return {{std::vector<double>(metrics, 100), {}},
          {std::vector<double>(metrics, 100 * (1 + effect)), {}}};
}

// A time-out or a slow harness leaves a bound; two equal bounds show no equality.
TEST(gate_bounds, are_not_compared) {
  session of({{"acquire_p50"}, {"acquire_p99"}, {"throughput"}});
  while (of.wants_more()) {
    pair p = one_pair(3);
    if (of.pairs() == 3) p.baseline.doubts = {"", "has only > 1.0 s", "has only > 1.0 s"};
    of.add(p);
  }
  const conclusion c = of.conclude();
  EXPECT_EQ(c.pairs, first_pairs);
  EXPECT_EQ(c.metrics[0].how, decision::pass);
  EXPECT_EQ(c.how, decision::inconclusive);
  EXPECT_THAT(c.reasons, ElementsAre("acquire_p99, throughput: the baseline's run 4 has only > "
                                     "1.0 s"));
}

// Not even a candidate ten times as slow is blamed.
TEST(gate_bounds, of_every_timing_end_the_session) {
  session of({{"acquire_p50"}, {"acquire_p99"}});
  pair p = one_pair(2, 9.0);
  p.candidate.doubts = {"is only a bound", "is only a bound"};
  of.add(p);
  EXPECT_FALSE(of.wants_more());
  EXPECT_EQ(of.conclude().how, decision::inconclusive);
}

TEST(gate_order, is_random_balanced_and_repeatable) {
  std::set<std::string> all;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::string order = order_of_sides(seed, most_pairs);
    EXPECT_EQ(order, order_of_sides(seed, most_pairs));
    for (std::size_t i = 0; i < order.size(); i += 10) {
      EXPECT_EQ(std::ranges::count(order.substr(i, 10), 'b'), 5) << order;
    }
    all.insert(order);
  }
  EXPECT_EQ(all.size(), 100U);
  EXPECT_TRUE(order_of_sides(7, most_pairs).starts_with(order_of_sides(7, 12)));
}

// The second run of each pair is a fifth slower, whichever side it is: no metric passes unseen,
// none is blamed.
TEST(gate_order, cancels_what_the_place_in_a_pair_does) {
  const std::string order = order_of_sides(3, most_pairs);
  session of({{"acquire_p50"}});
  stats::random_source random(5);
  while (of.wants_more()) {
    const bool candidate_second = order[of.pairs()] == 'b';
    const auto value = [&](bool second) {
      return block{{std::exp(random.normal(0, 0.01)) * (second ? 1.2 : 1)}, {}};
    };
    of.add({value(!candidate_second), value(candidate_second)});
  }
  EXPECT_NEAR(of.conclude().metrics[0].shown.effect, 0, 0.02);
}

}  // namespace
}  // namespace lockmark::gate
