// Freezes of lockmark: counted beat by beat, told apart from the job's own faults, and not taken
// for the lock's.
#include "harness/run/freezes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drivers/memory/memory.hpp"
#include "harness/run/hiccup.hpp"
#include "harness/run/run_job.hpp"
#include "workloads/workloads.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::int64_t one_s = 1'000'000'000;

// What stops the one thread of a simulated run, 2 s after its beginning.
simulated_clock* stopped_clock = nullptr;
duration stopped_for{};

class stopping_workload final : public workload {
 public:
  task<void> attempt(client& me) const override {
    if (stopped_clock->now() >= from_ns(2 * one_s)) {
      stopped_clock->advance(std::exchange(stopped_for, 0s));
    }
    co_await mutex_->attempt(me);
  }

 private:
  std::unique_ptr<workload> mutex_ = workloads::mutex().make();
};

result run_with_stop(const std::string& load, duration stop) {
  const lock_kind kind = memory::kinds().front();
  const config::job job = config::parse_job(
      "load: {" + load + ", instances: 4, clients: 4}\nkeys: own\nhold: 5ms\nwait: 10s\n" +
          "warmup: 0s\nstop: {duration: 23s}\n",
      "test.yaml");
  names n{"test", {}};
  for (int k = 0; k < 16; ++k) n.keys.push_back("k" + std::to_string(k));
  const auto behind = kind.make({"memory:", n, {}});
  workload_kind stopping = workloads::mutex();
  stopping.make = [] { return std::unique_ptr<workload>(std::make_unique<stopping_workload>()); };
  simulated_clock clock;
  stopped_clock = &clock;
  stopped_for = stop;
  const setup how{.job = job,
                  .lock = kind,
                  .behind = *behind,
                  .workload = stopping,
                  .run_id = "test",
                  .target = "memory:",
                  .topology = "memory"};
  return run_job_simulated(how, clock);
}

constexpr const char* loops[] = {"loop: closed", "loop: open, rate: 1000/s"};

// Of the window's 23 s, 20 are no measurement at all.
TEST(freeze, of_most_of_the_window_is_invalid_in_any_loop) {
  for (const char* loop : loops) {
    const result r = run_with_stop(loop, 20s);
    EXPECT_FALSE(r.verdict.valid) << loop;
    EXPECT_THAT(texts_of(r.verdict.reasons),
                Contains(AllOf(HasSubstr("lockmark stood still for 20.0"), HasSubstr("of the 23."),
                               HasSubstr("by no fault of the job"))));
    EXPECT_THAT(texts_of(r.verdict.reasons, language::chinese), Contains(HasSubstr("停顿 20.0")));
    ASSERT_THAT(r.marks, SizeIs(1));
    EXPECT_NEAR(r.marks[0].at_s, 2, 0.02);
    EXPECT_NEAR(r.marks[0].for_s, 20, 0.02);
    EXPECT_LT(r.found.longest_gap_ns, one_s / 10) << "it is not the lock that granted nothing";
    // 4,000 beats of 5 ms were missed, and each is counted as late as it was.
    const stats::histogram& lag = r.totals[series::loop_lag];
    EXPECT_NEAR(static_cast<double>(lag.count()), 4600, 20);
    EXPECT_NEAR(static_cast<double>(lag.value_at_quantile(0.5)), 8.5e9, 0.1e9);
    EXPECT_GT(lag.max_ns(), 19 * one_s);
  }
}

// Its delay is 0.4 % of the time: neither the throughput nor a p99 could tell.
TEST(freeze, of_a_tenth_of_a_second_changes_no_figure_and_is_told) {
  for (const char* loop : loops) {
    const result r = run_with_stop(loop, 110ms);
    EXPECT_TRUE(r.verdict.valid && !r.verdict.bound)
        << loop << testing::PrintToString(texts_of(r.verdict.reasons));
    ASSERT_THAT(r.marks, SizeIs(1));
    EXPECT_EQ(r.marks[0].kind, "stood_still");
    EXPECT_THAT(r.marks[0].text, HasSubstr("lockmark stood still for 0.1"));
    EXPECT_THAT(run_with_stop(loop, 0s).marks, IsEmpty());
  }
}

// A tenth of the time: a closed loop is left with bounds, an open one with nothing.
TEST(freeze, of_a_part_of_the_window_bounds_a_closed_loop) {
  const result closed = run_with_stop(loops[0], 2s);
  EXPECT_TRUE(closed.verdict.valid && closed.verdict.bound);
  EXPECT_THAT(texts_of(closed.verdict.reasons), Contains(HasSubstr("lockmark stood still")));
  EXPECT_FALSE(run_with_stop(loops[1], 2s).verdict.valid);
}

faults::infliction pause_of(std::uint32_t participant, std::int64_t at_ns, duration lasted) {
  return {"pause_client", "", from_ns(at_ns), lasted, true, 0, participant};
}

TEST(freeze, is_explained_by_a_fault_on_its_own_participant_only) {
  const std::vector<freeze> seen = {{10 * one_s, 5 * one_s, 1}};
  const auto left = [&](const std::vector<faults::infliction>& inflicted) {
    return unexplained(seen, inflicted, 0, 100 * one_s);
  };
  EXPECT_THAT(left({}), SizeIs(1));
  EXPECT_THAT(left({pause_of(1, 10 * one_s - 1'000'000, 5s)}), IsEmpty());
  EXPECT_THAT(left({pause_of(2, 10 * one_s - 1'000'000, 5s)}), SizeIs(1));
  // Longer than the fault: the rest is not its doing.
  const auto rest = left({pause_of(1, 10 * one_s, 2s)});
  ASSERT_THAT(rest, SizeIs(1));
  EXPECT_EQ(rest[0].from_ns, 12 * one_s);
  EXPECT_EQ(rest[0].for_ns, 3 * one_s);
  EXPECT_THAT(left({pause_of(1, 10 * one_s, 2s), pause_of(1, 12 * one_s, 3s)}), IsEmpty());
}

TEST(freeze, counts_in_the_window_only) {
  const std::vector<freeze> seen = {
      {0, one_s, 0}, {9 * one_s, 3 * one_s, 0}, {20 * one_s, one_s, 0}};
  const auto all = unexplained(seen, {}, 2 * one_s, 10 * one_s);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].from_ns, 9 * one_s);
  EXPECT_EQ(all[0].for_ns, one_s);
}

// A run of four participants over 23 s, with 1,000 attempts each.
result run_of_four(std::vector<freeze> freezes, bool closed) {
  result r;
  r.job = config::parse_job(std::string("load: {instances: 4, clients: 1") +
                                (closed ? "" : ", loop: open, rate: 170/s") +
                                "}\nparticipants: 4\nwait: 1s\nstop: {duration: 23s}\n",
                            "test.yaml");
  r.workers = 4;
  r.window_start_ns = 100 * one_s;
  r.window_ns = 23 * one_s;
  r.totals.counts[counter::granted] = 4000;
  r.totals[series::response].record(2'000'000, 4000);
  r.found.gaps = {{2 * one_s, 103 * one_s}, {one_s / 2, 120 * one_s}};
  r.totals.freezes = std::move(freezes);
  judge_freezes(r, {});
  judge_run(r, 4);
  return r;
}

TEST(freeze, of_one_participant_is_named) {
  for (const bool closed : {true, false}) {
    const result r = run_of_four({{102 * one_s, 20 * one_s, 2}}, closed);
    EXPECT_FALSE(r.verdict.valid);
    EXPECT_THAT(texts_of(r.verdict.reasons),
                Contains("participant 3 stood still for 20.00 s of the 23.00 s measured (longest: "
                         "20.00 s, from 2.00 s on), by no fault of the job"));
    EXPECT_EQ(r.found.longest_gap_ns, 0);
  }
}

TEST(freeze, of_all_participants_at_once_is_said_of_all) {
  const result r = run_of_four({{105 * one_s, 3 * one_s, 0},
                                {105 * one_s, 3 * one_s, 1},
                                {105 * one_s, 3 * one_s, 2},
                                {105 * one_s, 3 * one_s, 3}},
                               true);
  EXPECT_TRUE(r.verdict.valid && r.verdict.bound);
  EXPECT_THAT(texts_of(r.verdict.reasons),
              Contains(HasSubstr("every participant stood still, for 3.00 s")));
  ASSERT_THAT(r.marks, SizeIs(1));
  EXPECT_EQ(r.found.longest_gap_ns, 2 * one_s) << "the lock's own: nobody stood still then";
}

// The clock of the run stands still in a suspended machine; servers elsewhere, and leases, do not.
TEST(freeze, of_a_suspended_machine_is_invalid) {
  result r = run_of_four({}, true);
  EXPECT_TRUE(r.verdict.valid);
  judge_own_freezes(r, {},
                    std::vector<freeze>{{104 * one_s, 600 * one_s, 0}, {200 * one_s, one_s, 0}});
  judge_run(r, 4);
  EXPECT_FALSE(r.verdict.valid);
  EXPECT_THAT(texts_of(r.verdict.reasons),
              Contains("the machine was suspended for 600.00 s, 4.00 s into the measurement"));
}

// While its participants go on, a freeze of lockmark itself spoils no figure.
TEST(freeze, of_lockmark_apart_from_its_participants_is_told_only) {
  result r = run_of_four({}, true);
  const std::vector<freeze> seen = {{104 * one_s, 5 * one_s, 0}};
  for (int again = 0; again < 2; ++again) judge_own_freezes(r, seen, {});
  judge_run(r, 4);
  EXPECT_TRUE(r.verdict.valid && !r.verdict.bound);
  ASSERT_THAT(r.marks, SizeIs(1));
  EXPECT_THAT(r.marks[0].text, HasSubstr("stood still for 5.00 s"));
}

// Each missed beat counts once, in wakings the stall counts once.
TEST(hiccup_count, misses_no_beat) {
  window w;
  w.start_ns = 0;
  hiccup_count count(from_ns(1'000'000), 1ms, w);
  for (int i = 1; i <= 3000; ++i) count.awake(from_ns(i * 1'000'000LL), 0);
  EXPECT_EQ(count.seen().by_beat.count(), 3000);
  EXPECT_THAT(count.seen().freezes, IsEmpty());
  count.awake(from_ns(23 * one_s), 0);
  EXPECT_EQ(count.seen().by_beat.count(), 23'000);
  EXPECT_EQ(count.seen().by_wake.count(), 3001);
  EXPECT_NEAR(static_cast<double>(count.seen().by_beat.value_at_quantile(0.999)), 20e9, 0.1e9);
  ASSERT_THAT(count.seen().freezes, SizeIs(1));
  EXPECT_EQ(count.seen().freezes[0].until_ns(), 23 * one_s);
  count.awake(from_ns(23 * one_s + 1'000'000),
              5 * one_s);  // the first look is the one to compare with
  ASSERT_THAT(count.seen().asleep, SizeIs(1));
  EXPECT_EQ(count.seen().asleep[0].for_ns, 5 * one_s);
}

TEST(hiccup_count, wakes_as_often_as_its_quantiles_need) {
  EXPECT_EQ(hiccup_period(0s), 1ms) << "a run that ends after so many samples";
  EXPECT_EQ(hiccup_period(10s), 1ms);
  EXPECT_EQ(hiccup_period(40s), 4ms);
  EXPECT_EQ(hiccup_period(24h), 5ms);
}

// 100 s with a stall of 3 ms in each second, a millisecond later in each: p99.9 of a thread that
// wakes each millisecond is between those and none. Half as many must not show, twice as many must.
TEST(hiccup_count, says_the_same_of_stalls_at_any_period) {
  const auto late_wakes = [](duration period, duration between_stalls) {
    window w;
    w.start_ns = 0;
    hiccup_count count(from_ns(0) + period, period, w);
    duration since = 0ms;
    for (time_point now = from_ns(0); now < from_ns(100 * one_s); now += 100us) {
      if ((since += 100us) >= between_stalls) {
        since = 0ms;
        now += 3ms;
      }
      count.awake(now, 0);
    }
    return from_ns(count.seen().by_wake.value_at_quantile(0.999)) - from_ns(0);
  };
  for (const duration period : {1ms, 4ms, 5ms}) {
    EXPECT_LT(late_wakes(period, 2003ms), 1ms) << period.count();
    EXPECT_GE(late_wakes(period, 503ms), 1ms) << period.count();
  }
}

// Beats missed in an hour: counted in groups, in all as many as there were.
TEST(metronome, counts_every_beat_at_a_bounded_cost) {
  metronome m(from_ns(0), 1ms);
  std::int64_t beats = 0, calls = 0;
  m.strike(from_ns(3600 * one_s), [&](time_point, duration, std::int64_t n) {
    beats += n;
    ++calls;
  });
  EXPECT_EQ(beats, 3'600'001);
  EXPECT_LE(calls, 100'001);
  EXPECT_EQ(m.next(), from_ns(3600 * one_s) + 1ms);
  m.strike(from_ns(3600 * one_s), [&](time_point, duration, std::int64_t) { ++calls; });
  EXPECT_LE(calls, 100'001) << "none is due";
}

}  // namespace
}  // namespace lockmark::run
