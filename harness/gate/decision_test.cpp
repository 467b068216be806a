// Whole sessions of the gate, simulated: how often it cries wolf, and how often it sees one.
#include "harness/gate/decision.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "harness/stats/random.hpp"

namespace lockmark::gate {
namespace {

using stats::random_source;

// The ln of a ratio of two runs that differ by `effect`, with noise.
using noise = std::function<double(random_source&)>;

std::vector<double> pairs(std::size_t n, double effect, const noise& n_of, random_source& random) {
  std::vector<double> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(std::log1p(effect) + n_of(random));
  return all;
}

decision session(const metric& m, double effect, const noise& n_of, random_source& random) {
  const auto first = pairs(first_pairs, effect, n_of, random);
  if (!is_suspicious(m, first)) return decide(m, first, {});
  return decide(m, first, pairs(second_pairs, effect, n_of, random));
}

int count(decision wanted, int sessions, double effect, const noise& n_of) {
  random_source random(7);
  const metric m{"acquire_p50"};
  int found = 0;
  for (int i = 0; i < sessions; ++i) found += session(m, effect, n_of, random) == wanted ? 1 : 0;
  return found;
}

noise normal(double spread) {
  return [spread](random_source& r) { return r.normal(0, spread); };
}

// Now and then a run is three times as slow, as on a machine that others use.
double with_outliers(random_source& r) {
  const double outlier = r.below(8) == 0 ? std::log(3.0) : 0;
  return r.normal(0, 0.05) + (r.below(2) == 0 ? outlier : -outlier);
}

// R18: at most 0.3 % of sessions over all of four metrics.
TEST(gate_alarms, are_rare_without_a_difference) {
  for (const noise& n_of : {normal(0.05), normal(0.10), normal(0.30), noise(with_outliers)}) {
    random_source random(11);
    int alarms = 0;
    for (int s = 0; s < 2000; ++s) {
      bool alarmed = false;
      for (int m = 0; m < 4; ++m) {
        alarmed |= session({"m"}, 0, n_of, random) == decision::regression;
      }
      alarms += alarmed ? 1 : 0;
    }
    EXPECT_LE(alarms, 6);
  }
}

TEST(gate_power, finds_a_fifth_more_in_nearly_every_session) {
  EXPECT_GE(count(decision::regression, 1000, 0.20, normal(0.10)), 980);
}

TEST(gate_power, does_not_mind_what_is_tolerated) {
  EXPECT_LE(count(decision::regression, 1000, 0.02, normal(0.03)), 3);
}

// A run so noisy that it could not have seen a regression must not pass.
TEST(gate_power, says_when_it_could_not_have_seen_anything) {
  EXPECT_GE(count(decision::inconclusive, 1000, 0, normal(1.0)), 990);
  EXPECT_EQ(count(decision::pass, 1000, 0, normal(1.0)), 0);
}

TEST(gate_power, passes_what_has_become_better) {
  EXPECT_EQ(count(decision::pass, 200, -0.20, normal(0.05)), 200);
}

TEST(gate_direction, is_turned_where_more_is_better) {
  metric throughput{"throughput"};
  throughput.higher_is_better = true;
  EXPECT_GT(worsening(throughput, 100, 80), 0);
  EXPECT_LT(worsening({"p50"}, 100, 80), 0);
}

// One command more per acquire, in one pair.
TEST(gate_counters, fail_at_once) {
  metric commands{"commands_per_acquire"};
  commands.exact = true;
  commands.tolerated = 0.005;
  EXPECT_EQ(decide(commands, std::vector{worsening(commands, 2, 3)}, {}), decision::regression);
  EXPECT_EQ(decide(commands, std::vector{worsening(commands, 2, 2)}, {}), decision::pass);
  EXPECT_EQ(decide(commands, std::vector{worsening(commands, 3, 2)}, {}), decision::pass);
}

// The reference table: spread 0.10 and ten pairs see 15 %, twenty see 10 %.
TEST(gate_blind_spot, shrinks_with_more_pairs) {
  std::vector<double> ten, twenty;
  for (int i = 0; i < 10; ++i) ten.push_back(i % 2 == 0 ? 0.0949 : -0.0949);
  for (int i = 0; i < 20; ++i) twenty.push_back(i % 2 == 0 ? 0.0975 : -0.0975);
  EXPECT_NEAR(smallest_detectable(ten), 0.147, 0.003);
  EXPECT_NEAR(smallest_detectable(twenty), 0.102, 0.003);
}

}  // namespace
}  // namespace lockmark::gate
