// Replays against queues whose waits are known, and what they tell of a run beside them.
#include "harness/capacity/replay.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace lockmark::capacity {
namespace {

using namespace std::chrono_literals;

config::job job_at(const std::string& rate, const std::string& hold, std::uint64_t seed = 1) {
  return config::parse_job("load: {loop: poisson, rate: " + rate + ", clients: 64}\nhold: " + hold +
                               "\nstop: {duration: 1s}\nseed: " + std::to_string(seed) + "\n",
                           "test.yaml");
}

double share_later_than(const std::vector<outcome_of_arrival>& all, double after_s) {
  double late = 0;
  for (const auto& a : all) late += !a.granted || a.wait_s > after_s ? 1 : 0;
  return late / static_cast<double>(all.size());
}

double mean_wait_s(const std::vector<outcome_of_arrival>& all) {
  double sum = 0;
  for (const auto& a : all) sum += a.wait_s;
  return sum / static_cast<double>(all.size());
}

const lock_model prompt{.handoffs_s = {0.0}, .patience_s = 1e9};

// M/M/1: a share of rho exp(-(mu - lambda) t) waits for longer than t.
TEST(replay, of_random_arrivals_and_holds_is_the_known_queue) {
  const auto all =
      replay(pace::arrivals_of(job_at("100/s", "exponential(7ms)"), 1, 10'000s), prompt, 1);
  ASSERT_GT(all.size(), 990'000U);
  const double mu = 1 / 0.007;
  for (const double t : {0.0, 0.02, 0.05}) {
    const double expected = 0.7 * std::exp(-(mu - 100) * t);
    EXPECT_NEAR(share_later_than(all, t) / expected, 1, 0.05) << t;
  }
}

// Whoever comes next, the mean wait is the same; but more wait for very long.
TEST(replay, in_random_order_spreads_the_waits) {
  const auto arrivals = pace::arrivals_of(job_at("100/s", "exponential(7ms)"), 1, 2'000s);
  lock_model unordered = prompt;
  unordered.order = service_order::random;
  const auto first_come = replay(arrivals, prompt, 1);
  const auto any = replay(arrivals, unordered, 1);
  EXPECT_NEAR(mean_wait_s(any) / mean_wait_s(first_come), 1, 0.02);
  EXPECT_GT(share_later_than(any, 0.15), 2 * share_later_than(first_come, 0.15));
}

// The key is handed over only where somebody waits; the impatient leave the queue.
TEST(replay, hands_over_and_gives_up) {
  const std::vector<pace::arrival> all{
      {0s, 0, 100ms}, {10ms, 0, 100ms}, {20ms, 0, 100ms}, {500ms, 0, 1ms}, {0s, 1, 1ms}};
  const lock_model m{.lone_s = 0.001, .handoffs_s = {0.005}, .scale = 2, .patience_s = 0.15};
  const auto out = replay(all, m, 1);
  EXPECT_NEAR(out[0].wait_s, 0.001, 1e-9);
  EXPECT_NEAR(out[1].wait_s, 0.101 + 0.01 - 0.01, 1e-9);
  EXPECT_FALSE(out[2].granted);
  EXPECT_NEAR(out[2].wait_s, 0.15, 1e-9);
  EXPECT_NEAR(out[3].wait_s, 0.001, 1e-9);
  EXPECT_NEAR(out[4].wait_s, 0.001, 1e-9) << "another key";
}

TEST(replay, becomes_the_stretches_of_a_run) {
  const std::vector<outcome_of_arrival> all{
      {0.5, 0.1, true}, {1.2, 0.3, true}, {1.4, 0.9, false}, {2.1, 0.1, true}, {9, 0, true}};
  const stretches s = stretches_of(all, 0.2, 0.5, 1, 3);
  ASSERT_EQ(s.parts.size(), 4U);
  EXPECT_EQ(s.parts[0].attempts, 0);
  EXPECT_EQ(s.parts[1].attempts, 1);
  EXPECT_EQ(s.parts[1].late, 1);
  EXPECT_NEAR(s.parts[1].waiting, 0.3 / 0.5, 1e-9);
  EXPECT_EQ(s.parts[2].attempts, 2);
  EXPECT_EQ(s.parts[2].late, 1);
}

// "Runs" of a lock that is a little slower than its model: the same luck, other hand-offs.
struct trial_at {
  stretches run, beside;
};

trial_at run_beside_replay(std::uint64_t seed) {
  constexpr double after_s = 0.05;
  const lock_model model{.handoffs_s = {0.0005, 0.001, 0.0015}, .patience_s = 1};
  lock_model lock = model;
  lock.scale = 1.1;
  const auto arrivals = pace::arrivals_of(job_at("105/s", "exponential(5ms)", seed), 1, 62s);
  return {stretches_of(replay(arrivals, lock, seed + 1'000'000), after_s, 0.5, 2, 62),
          stretches_of(replay(arrivals, model, seed), after_s, 0.5, 2, 62)};
}

// The truth and the model's share come from long runs. A minute beside its replay is worth several
// without, and its bounds are as honest.
TEST(beside_a_replay, a_run_is_worth_several) {
  double truth = 0, expected = 0, attempts = 0, model_attempts = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const trial_at t = run_beside_replay(seed);
    for (const stretch& s : t.run.parts) {
      truth += static_cast<double>(s.late);
      attempts += static_cast<double>(s.attempts);
    }
    for (const stretch& s : t.beside.parts) {
      expected += static_cast<double>(s.late);
      model_attempts += static_cast<double>(s.attempts);
    }
  }
  truth /= attempts;
  expected /= model_attempts;
  double squares = 0, squares_beside = 0;
  int above = 0;
  constexpr int runs = 200;
  for (std::uint64_t seed = 1001; seed < 1001 + runs; ++seed) {
    const trial_at t = run_beside_replay(seed);
    const share_bounds alone = bound_share(std::span(&t.run, 1), 0.05);
    const share_beside both =
        bound_share_beside(std::span(&t.run, 1), std::span(&t.beside, 1), expected, 0.05);
    squares += std::pow(alone.share - truth, 2);
    squares_beside += std::pow(both.late.share - truth, 2);
    above += both.late.high < truth ? 1 : 0;
  }
  EXPECT_GT(squares / squares_beside, 10);
  EXPECT_LE(above, runs / 8);
}

}  // namespace
}  // namespace lockmark::capacity
