#include "harness/run/validity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/host.hpp"

namespace lockmark::run {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A run in which nothing is wrong.
self_measurement clean(bool closed_loop) {
  self_measurement m;
  m.closed_loop = closed_loop;
  m.reported_p99_ns = 10'000'000;
  m.reported_p50_ns = 4'000'000;
  m.pipe_p50_ns = 100'000;
  m.pipe_p99_ns = 900'000;
  m.timer_lag_p99_ns = 100'000;
  m.hiccup_p999_ns = 500'000;
  m.offered_per_s = closed_loop ? 0 : 1000;
  m.achieved_per_s = closed_loop ? 0 : 998;
  m.busiest_worker = 0.5;
  m.process_cpu = 0.3;
  m.steal = 0.001;
  m.floor_rate_per_s = 1'000'000;
  return m;
}

TEST(validity, a_clean_run_is_valid_and_no_bound) {
  for (const bool closed : {true, false}) {
    const validity v = judge(clean(closed));
    EXPECT_TRUE(v.valid);
    EXPECT_FALSE(v.bound);
    EXPECT_FALSE(v.saturated);
    EXPECT_THAT(v.reasons, IsEmpty());
  }
}

// The reason given when each limit on the harness is exceeded.
struct limit {
  void (*breaks)(self_measurement&);
  const char* reason;
};
const limit limits[] = {
    {[](self_measurement& m) { m.busiest_worker = 0.95; }, "a load thread used 95 %"},
    {[](self_measurement& m) { m.busy_proxies = 0.9; }, "lockmark's proxies used 90 % of a core"},
    {[](self_measurement& m) { m.process_cpu = 0.9; }, "the harness used 90 %"},
    {[](self_measurement& m) { m.timer_lag_p99_ns = 600'000; }, "began 0.60 ms late"},
    {[](self_measurement& m) { m.hiccup_p999_ns = 11'000'000; }, "host stalls (11.00 ms at p99.9)"},
    {[](self_measurement& m) { m.pipe_unknown = true; }, "does not stamp its answers"},
    {[](self_measurement& m) { m.steal = 0.05; }, "the hypervisor took 5.0 %"},
    {[](self_measurement& m) { m.times_throttled = 3; }, "stopped the harness 3 times"},
};

// A closed loop slowed down by the harness is a bound; an open loop is INVALID.
TEST(validity, a_slow_harness_bounds_a_closed_loop_and_invalidates_an_open_one) {
  for (const limit& l : limits) {
    self_measurement closed = clean(true), open = clean(false);
    l.breaks(closed);
    l.breaks(open);
    const validity of_closed = judge(closed), of_open = judge(open);
    EXPECT_TRUE(of_closed.valid && of_closed.bound) << l.reason;
    EXPECT_THAT(texts_of(of_closed.reasons), ElementsAre(HasSubstr(l.reason)));
    EXPECT_FALSE(of_open.valid || of_open.bound) << l.reason;
    EXPECT_THAT(texts_of(of_open.reasons), ElementsAre(HasSubstr(l.reason)));
  }
}

// The tolerated lag is 5 % of the reported p99, and never below 200 us.
TEST(validity, lag_is_held_against_what_is_reported) {
  self_measurement m = clean(false);
  m.timer_lag_p99_ns = 450'000;
  EXPECT_TRUE(judge(m).valid);
  m.reported_p99_ns = 1'000'000;
  m.hiccup_p999_ns = 0;
  EXPECT_FALSE(judge(m).valid);
  m.timer_lag_p99_ns = 150'000;
  EXPECT_TRUE(judge(m).valid);
}

// A response from which more than half of itself was taken is an estimate in any loop, and no
// bound: it may be too low. Up to 1 ms is always tolerated.
TEST(validity, a_long_pipe_leaves_an_estimate) {
  for (const bool closed : {true, false}) {
    self_measurement m = clean(closed);
    m.pipe_p99_ns = 4'900'000;
    m.pipe_p50_ns = 1'900'000;
    EXPECT_TRUE(judge(m).valid);
    EXPECT_FALSE(judge(m).bound);
    m.pipe_p99_ns = 5'100'000;
    EXPECT_FALSE(judge(m).valid || judge(m).bound);
    EXPECT_THAT(texts_of(judge(m).reasons),
                ElementsAre(HasSubstr("5.10 ms for the pipe at p99 (limit 5.00 ms) were taken out "
                                      "of a response, then 10.00 ms: an estimate")));
    m.pipe_p50_ns = 2'100'000;
    EXPECT_THAT(texts_of(judge(m).reasons),
                ElementsAre(HasSubstr("2.10 ms for the pipe at p50 (limit 2.00 ms)")));
    m.reported_p50_ns = 20'000;
    m.reported_p99_ns = 50'000;
    m.hiccup_p999_ns = m.hiccup_p99_of_time_ns = 0;
    m.pipe_p50_ns = m.pipe_p99_ns = 1'000'000;
    EXPECT_TRUE(judge(m).valid);
  }
}

// Random arrivals are sometimes fewer than their rate; more than chance explains is a fault.
TEST(validity, random_arrivals_may_be_fewer_by_chance) {
  self_measurement m = clean(false);
  m.achieved_per_s = 0.975 * m.offered_per_s;
  EXPECT_FALSE(judge(m).valid);
  m.chance_per_s = 0.02 * m.offered_per_s;
  EXPECT_TRUE(judge(m).valid);
  m.achieved_per_s = 0.96 * m.offered_per_s;
  EXPECT_FALSE(judge(m).valid);
}

// Wrong numbers are INVALID in any loop.
TEST(validity, broken_bookkeeping_and_debug_builds_are_invalid) {
  for (const bool closed : {true, false}) {
    self_measurement m = clean(closed);
    m.littles_law_fails = true;
    EXPECT_FALSE(judge(m).valid);
    m = clean(closed);
    m.debug_build = true;
    EXPECT_FALSE(judge(m).valid);
  }
}

// Too few attempts despite free clients are the harness's fault; with all clients busy, or dropped
// attempts, the lock is saturated.
TEST(validity, a_missed_rate_is_invalid_unless_the_lock_was_saturated) {
  self_measurement m = clean(false);
  m.achieved_per_s = 900;
  EXPECT_FALSE(judge(m).valid);
  m.clients_all_busy = true;
  EXPECT_TRUE(judge(m).valid);
  EXPECT_TRUE(judge(m).saturated);
  m.dropped = 7;
  EXPECT_THAT(texts_of(judge(m).reasons), ElementsAre(HasSubstr("7 due attempts were dropped")));
}

// More than half of the harness's rate without a lock cannot be measured.
TEST(validity, an_offered_rate_near_the_floor_is_invalid) {
  self_measurement m = clean(false);
  m.floor_rate_per_s = 1500;
  EXPECT_FALSE(judge(m).valid);
}

// Waiting tasks explain delays that were found, and are no finding by themselves.
TEST(validity, names_a_shortage_of_cores_only_where_it_explains_something) {
  for (const bool closed : {true, false}) {
    self_measurement m = clean(closed);
    m.cpu_waiting = 0.95;
    EXPECT_TRUE(judge(m).valid);
    EXPECT_FALSE(judge(m).bound);
    EXPECT_THAT(judge(m).reasons, IsEmpty());
    m.steal = 0.05;
    EXPECT_THAT(judge(m).reasons, ElementsAre(Field(&message::id, "steal")));
    m.hiccup_p999_ns = 11'000'000;
    EXPECT_THAT(texts_of(judge(m).reasons),
                Contains("the cores were short: some task waited for one 95 % of the time"));
    m.cpu_waiting = 0.02;
    EXPECT_THAT(judge(m).reasons, Not(Contains(Field(&message::id, "cpu_waiting"))));
  }
}

TEST(pressure, is_read_as_the_kernel_writes_it) {
  EXPECT_EQ(waiting_us_in("some avg10=94.77 avg60=96.02 avg300=83.18 total=786337743"), 786337743U);
  EXPECT_EQ(waiting_us_in(""), std::nullopt) << "an older kernel";
  EXPECT_EQ(waiting_us_in("full avg10=0.00 avg60=0.00 avg300=0.00 total=0"), std::nullopt);
  EXPECT_EQ(waiting_us_in("some avg10=94.77 total=x"), std::nullopt);
}

TEST(pressure, is_a_share_of_the_window) {
  host_sample before, after;
  before.waiting_us = 1'000'000;
  after.waiting_us = 2'500'000;
  EXPECT_DOUBLE_EQ(waiting_share(before, after, 5'000'000'000).value(), 0.3);
  EXPECT_DOUBLE_EQ(waiting_share(before, after, 1'000'000'000).value(), 1);
  EXPECT_EQ(waiting_share(after, before, 1'000'000'000), std::nullopt);
  EXPECT_EQ(waiting_share(before, after, 0), std::nullopt);
  after.waiting_us.reset();
  EXPECT_EQ(waiting_share(before, after, 5'000'000'000), std::nullopt);
}

}  // namespace
}  // namespace lockmark::run
