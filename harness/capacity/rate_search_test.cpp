#include "harness/capacity/rate_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/capacity/study.hpp"
#include "harness/stats/random.hpp"

namespace lockmark::capacity {
namespace {

constexpr double service_s = 0.005;
constexpr double limit_s = 0.05;  // for the p99 of responses
constexpr double allowed = 0.01;
constexpr double most_per_s = 1 / service_s;
constexpr double usual_length_s = std::chrono::duration<double>(usual_probe).count();
constexpr std::uint64_t seeds = 100;

// A lock that is held for 5 ms, in order, and attempts that arrive at random: M/D/1. From one
// arrival to the next, what is left of the work is all that there is to know (Lindley, 1952).
class simulated_lock {
 public:
  explicit simulated_lock(std::uint64_t seed) : random_(seed) {}

  stretches run(double rate_per_s, double length_s) {
    constexpr double part_s = 0.5;
    stretches result{{}, part_s};
    result.parts.resize(static_cast<std::size_t>(length_s / part_s));
    double work_s = 0;
    double t = 0;
    for (;;) {
      const double gap_s = random_.exponential(1 / rate_per_s);
      t += gap_s;
      if (t >= length_s) return result;
      work_s = std::max(0.0, work_s - gap_s) + service_s;
      stretch& part = result.parts[static_cast<std::size_t>(t / part_s)];
      ++part.attempts;
      part.late += work_s > limit_s ? 1 : 0;
      part.waiting += work_s / part_s;
    }
  }

 private:
  stats::random_source random_;
};

double late_share(double rate_per_s) {
  const auto run = simulated_lock(99).run(rate_per_s, 40'000);
  double all = 0, late = 0;
  for (const stretch& s : run.parts) {
    all += static_cast<double>(s.attempts);
    late += static_cast<double>(s.late);
  }
  return late / all;
}

// The rate at which one of a hundred of very many attempts is late.
double find_true_rate() {
  double low = 0.5 * most_per_s, high = most_per_s;
  while (high / low > 1.0005) {
    const double middle = (low + high) / 2;
    (late_share(middle) > allowed ? high : low) = middle;
  }
  return low;
}

double true_rate() {
  static const double found = find_true_rate();
  return found;
}

probe_result result_of(const std::vector<stretches>& runs, double doubt = rate_search::doubt) {
  probe_result r;
  r.objectives.push_back({allowed, bound_share(runs, doubt)});
  r.backlog = bound_growth(runs, doubt);
  return r;
}

// The seconds of load that it took.
double search_all(rate_search& search, simulated_lock& lock) {
  std::vector<stretches> runs;
  double took_s = 0;
  while (const auto p = search.next()) {
    if (p->looks_before == 0) runs.clear();
    runs.push_back(lock.run(p->rate_per_s, usual_length_s * p->length));
    took_s += usual_length_s * p->length;
    search.tell(result_of(runs, p->doubt));
  }
  return took_s;
}

TEST(rate_search, finds_the_rate_of_a_lock_of_known_capacity) {
  const double truth = true_rate();
  std::uint64_t close = 0;
  double took_s = 0;
  double highest = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    simulated_lock lock(seed);
    // Where the search begins decides which rates it tries at all.
    const double guess = most_per_s * (0.8 + 0.004 * static_cast<double>(seed % 100));
    rate_search search(guess, 2 * most_per_s, 0.1);
    took_s += search_all(search, lock);
    ASSERT_TRUE(search.rate_per_s()) << seed;
    EXPECT_LE(*search.rate_per_s(), truth) << seed;
    close += *search.rate_per_s() >= 0.93 * truth ? 1 : 0;
    highest = std::max(highest, *search.rate_per_s() / truth);
  }
  EXPECT_GE(close, 95 * seeds / 100);
  RecordProperty("seconds_of_load_per_search", static_cast<int>(took_s / seeds));
  RecordProperty("within_7_percent", static_cast<int>(close));
  RecordProperty("highest_per_mille", static_cast<int>(1000 * highest));
}

// Just above the truth, the shortest confirmation that can pass must seldom do so; twice in 100
// times at most, and it takes an edge that was taken to be too high as well to make the answer
// wrong. (Nominal is once in 1,000 times; crowds of late attempts are skewed.)
TEST(rate_search, seldom_confirms_a_rate_that_just_breaks_the_objective) {
  const double rate = 1.005 * true_rate();
  simulated_lock lock(5);
  int passed = 0;
  for (int i = 0; i < 500; ++i) {
    std::vector<stretches> looks;
    for (const double length : {2, 2, 4}) looks.push_back(lock.run(rate, length * usual_length_s));
    passed += judge(result_of(looks, rate_search::doubt_confirming)) == outcome::passes ? 1 : 0;
  }
  EXPECT_LE(passed, 10);
}

// A queue that only grows is seen from its slope, before any attempt is late.
TEST(rate_search, takes_no_growing_backlog_for_a_pass) {
  stretches run{{}, 0.5};
  for (int i = 0; i < 120; ++i) run.parts.push_back({1000, 0, 0.1 * i + (i % 3) * 0.05});
  const auto r = result_of({run});
  EXPECT_NEAR(r.backlog.per_s, 0.2, 0.01);
  EXPECT_GT(r.backlog.low, 0);
  EXPECT_EQ(judge(r), outcome::unclear);
}

probe_result found(double share, double low, double high, double worth = 1000) {
  probe_result r;
  r.objectives.push_back({allowed, {share, low, high, 1000, worth}});
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
// Clear below a rate, clear above it.
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

// Such a lock keeps its objective until it is asked to show it.
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

// However early it looks good, and more surely than a probe.
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
  EXPECT_GT(*search.edge_below_per_s(), 0.99 * 70);
  EXPECT_LT(*search.edge_below_per_s(), 1.05 * 70);
}

// A rate that fails when it matters is not the answer; nor is one just below it.
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

// What cannot become clear in the time there is makes way at once; what can is looked at longer.
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

// As many looks as there are, and no more.
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

// One objective that fails is enough, and all must hold.
TEST(rate_judgement, asks_every_objective) {
  probe_result r = passing();
  r.objectives.push_back(unclear().objectives.front());
  EXPECT_EQ(judge(r), outcome::unclear);
  r.objectives.push_back(failing().objectives.front());
  EXPECT_EQ(judge(r), outcome::fails);
}

}  // namespace
}  // namespace lockmark::capacity
