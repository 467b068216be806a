// Against clocks whose true difference is known, with every kind of network between them.
#include "harness/agents/host_clock.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "harness/stats/random.hpp"

namespace lockmark::agents {
namespace {

constexpr std::int64_t us = 1'000;
constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t s = 1'000'000'000;

// Another host: its clock at our time, and a network whose delays are drawn.
struct world {
  std::function<std::int64_t(std::int64_t ours_ns)> clock;
  std::function<std::int64_t()> there;  // delay to us
  std::function<std::int64_t()> back;
  double drift_ppm = 100;

  exchange at(std::int64_t ours_ns) const {
    exchange e;
    e.sent_ns = clock(ours_ns);
    e.received_ns = ours_ns + there();
    e.answered_ns = e.received_ns + 5 * us;
    e.heard_ns = clock(e.answered_ns + back());
    e.drift_ppm = drift_ppm;
    return e;
  }
};

std::function<std::int64_t()> always(std::int64_t ns) {
  return [ns] { return ns; };
}

TEST(host_clock, half_a_round_trip_is_the_error) {
  const world w{[](std::int64_t t) { return t + 1'000 * s; }, always(100 * us), always(100 * us),
                0};
  host_clock c;
  EXPECT_FALSE(c.known());
  c.learn(w.at(7 * s));
  EXPECT_TRUE(c.known());
  EXPECT_EQ(c.offset_ns(), 1'000 * s);
  EXPECT_EQ(c.to_ours(1'008 * s), 8 * s);
  EXPECT_EQ(c.to_theirs(8 * s), 1'008 * s);
  EXPECT_EQ(c.error_ns(8 * s), 100 * us);
}

// An asymmetric network moves the middle away from the truth, never the bounds.
TEST(host_clock, a_slow_way_there_is_within_the_error) {
  const world w{[](std::int64_t t) { return t - 3 * s; }, always(900 * us), always(100 * us), 0};
  host_clock c;
  c.learn(w.at(7 * s));
  EXPECT_EQ(c.to_ours(5 * s) - 8 * s, 400 * us);
  EXPECT_EQ(c.error_ns(8 * s), 500 * us);
}

TEST(host_clock, the_error_grows_until_the_next_exchange) {
  const world w{[](std::int64_t t) { return t; }, always(10 * us), always(10 * us), 100};
  host_clock c;
  c.learn(w.at(1 * s));
  EXPECT_NEAR(static_cast<double>(c.error_ns(2 * s)), 110'000, 100);
  c.learn(w.at(2 * s));
  EXPECT_NEAR(static_cast<double>(c.error_ns(2 * s + 30 * us)), 10'000, 100);
}

// Before anything was mapped, nothing has to be continued: the best exchange counts at once.
TEST(host_clock, begins_at_the_best_of_the_first_exchanges) {
  world w{[](std::int64_t t) { return t; }, always(9 * ms), always(10 * us), 100};
  host_clock c;
  c.learn(w.at(1 * s));
  w.there = always(10 * us);
  c.learn(w.at(1 * s + 10 * ms));
  EXPECT_LT(c.error_ns(1 * s + 20 * ms), 15 * us);
}

// A slow exchange after a fast one teaches nothing: the older bounds are narrower.
TEST(host_clock, a_slow_exchange_does_not_widen_the_bounds) {
  world w{[](std::int64_t t) { return t; }, always(10 * us), always(10 * us), 100};
  host_clock c;
  c.learn(w.at(1 * s));
  w.back = always(50 * ms);
  c.learn(w.at(1 * s + 250 * ms));
  EXPECT_LT(c.error_ns(1 * s + 300 * ms), 50 * us);
}

// Whatever the delays and the drift within the limit: every stamp that was mapped, at the time when
// it was, is within its stated error, and time never goes back.
TEST(host_clock, the_error_covers_the_truth_at_every_moment) {
  for (const double ppm : {-95.0, 0.0, 60.0}) {
    stats::random_source random(static_cast<std::uint64_t>(ppm + 1'000));
    const auto delay = [&random] {
      const std::uint64_t kind = random.below(10);
      return static_cast<std::int64_t>(random.below(kind == 0 ? 20'000'000 : 400'000));
    };
    const auto clock = [ppm](std::int64_t t) {
      return t + 1'000 * s + static_cast<std::int64_t>(ppm * 1e-6 * static_cast<double>(t));
    };
    const world w{clock, delay, delay, 100};
    host_clock c;
    std::int64_t before_ns = 0, worst_ns = 0;
    for (std::int64_t t = s; t < 300 * s; t += 25 * ms) {
      if (t % (250 * ms) == 0) c.learn(w.at(t - 50 * ms));
      const std::int64_t mapped_ns = c.to_ours(clock(t));
      ASSERT_GE(mapped_ns, before_ns);
      before_ns = mapped_ns;
      ASSERT_LE(std::abs(mapped_ns - t), c.error_ns(mapped_ns)) << t << " at " << ppm << " ppm";
      worst_ns = std::max(worst_ns, c.error_ns(mapped_ns));
      ASSERT_NEAR(static_cast<double>(c.to_theirs(mapped_ns)), static_cast<double>(clock(t)), 2);
    }
    EXPECT_LT(worst_ns, 12 * ms);  // the first exchange may be a slow one
    EXPECT_EQ(c.breaks(), 0U);
  }
}

// A stamp that comes late, as from a participant that was stopped, gets the time that it would have
// had at once.
TEST(host_clock, a_late_stamp_is_mapped_as_if_it_had_been_in_time) {
  const world w{[](std::int64_t t) { return t + t / 20'000; }, always(10 * us), always(90 * us),
                100};
  host_clock c;
  c.learn(w.at(s));
  const std::int64_t early = c.to_ours(w.clock(s + 100 * ms));
  for (int n = 1; n < 20; ++n) c.learn(w.at(s + n * 250 * ms));
  EXPECT_EQ(c.to_ours(w.clock(s + 100 * ms)), early);
}

// A machine that was suspended: its clock lost five seconds. The line cannot jump, so the error
// says how wrong it is.
TEST(host_clock, a_clock_that_was_set_is_told_and_covered) {
  const auto clock = [](std::int64_t t) { return t < 10 * s ? t : t - 5 * s; };
  const world w{clock, always(50 * us), always(50 * us), 100};
  host_clock c;
  for (std::int64_t t = s; t < 20 * s; t += 250 * ms) {
    if (t == 10 * s) continue;  // its stamps would be on both sides of the gap
    c.learn(w.at(t));
    c.to_ours(clock(t));
  }
  EXPECT_EQ(c.breaks(), 1U);
  const std::int64_t mapped_ns = c.to_ours(clock(20 * s));
  EXPECT_LE(std::abs(mapped_ns - 20 * s), c.error_ns(mapped_ns));
  EXPECT_GT(c.error_ns(mapped_ns), 4 * s);
}

TEST(host_clock, stamps_that_contradict_themselves_are_ignored) {
  host_clock c;
  c.learn({100, 200, 199, 300, 100});
  c.learn({300, 200, 210, 299, 100});
  EXPECT_FALSE(c.known());
  EXPECT_EQ(c.exchanges(), 0U);
}

}  // namespace
}  // namespace lockmark::agents
