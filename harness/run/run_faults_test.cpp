// Faults as part of a run: when they happen, how they are recorded, and how they end it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

#include "drivers/memory/memory.hpp"
#include "harness/faults/injector.hpp"
#include "harness/run/run_job.hpp"
#include "workloads/workloads.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// An injector that does no harm.
class mild_injector final : public faults::injector {
 public:
  void check(const faults::fault_plan&) const override {}
  task<bool> awaited(loop& l, faults::fault_plan, time_point) override {
    co_await l.sleep_for(1s);
    co_return false;
  }
  task<faults::active_fault> begin(loop& l, faults::fault_plan plan) override {
    faults::active_fault made;
    made.whom = plan.who == "master" ? "redis-1" : "participant 2";
    made.participant = participant;
    made.began = l.now();
    if (fails) throw no_server("redis-1 is not there");
    co_return made;
  }
  task<void> end(loop&, faults::fault_plan, faults::active_fault) override { co_return; }
  task<void> end_all(loop& l) override {
    co_await l.sleep_for(2s);
    ended_all = true;
  }

  std::string trouble() const override { return breaks_at && *breaks_at <= now() ? "gone" : ""; }

  bool fails = false;
  std::optional<std::uint32_t> participant;
  std::optional<time_point> breaks_at;
  std::function<time_point()> now;
  bool ended_all = false;
};

class faulted_runs : public testing::Test {
 protected:
  result simulate(const std::string& faults, faults::injector* injector,
                  const std::string& load = "hold: 1ms\nstop: {duration: 10s}\n") {
    const lock_kind kind = memory::kinds().front();
    const config::job job = config::parse_job(
        fmt::format("load: {{instances: 2}}\nwarmup: 500ms\n{}faults:\n{}", load, faults),
        "test.yaml");
    std::map<std::string, std::string, std::less<>> options;
    for (const lock_option& o : kind.options) options[std::string(o.name)] = o.preset;
    const auto behind = kind.make({"memory:", {"test", {"k0"}}, options});
    const workload_kind workload = workloads::mutex();
    simulated_clock clock;
    injector_.now = [&clock] { return clock.now(); };
    setup s{.job = job,
            .lock = kind,
            .behind = *behind,
            .workload = workload,
            .run_id = "test",
            .target = "memory:",
            .topology = "memory"};
    s.injector = injector;
    s.on_interval = on_interval_;
    s.on_live = [this](const live_view& view) { active_.push_back(view.faults); };
    return run_job_simulated(s, clock);
  }

  mild_injector injector_;
  std::function<void(const interval&, std::int64_t)> on_interval_;
  std::vector<std::vector<std::string>> active_;  // by second of the window
};

TEST_F(faulted_runs, show_what_was_done_to_them) {
  const result r = simulate(
      "  - {do: kill, who: holder, at: 6s}\n"
      "  - {do: pause, who: master, at: 2s, for: 3s}\n",
      &injector_);
  EXPECT_EQ(r.how, ending::complete);
  ASSERT_EQ(r.marks.size(), 2U);
  EXPECT_NEAR(r.marks[0].at_s, 2, 1e-6);
  EXPECT_NEAR(r.marks[0].for_s, 3, 1e-6);
  EXPECT_EQ(r.marks[0].kind, "pause_master");
  EXPECT_EQ(r.marks[0].text, "the master was paused for 3 s (redis-1)");
  EXPECT_NEAR(r.marks[1].at_s, 6, 1e-6);
  EXPECT_EQ(r.marks[1].for_s, 0);
  EXPECT_EQ(r.marks[1].text, "the holder was killed (participant 2)");
  EXPECT_TRUE(injector_.ended_all);
}

// A client that has held a key since before the window is hit as its holder.
TEST_F(faulted_runs, know_what_was_held_since_before_the_window) {
  std::vector<std::string> why;
  for (const std::uint32_t hit : {0U, 1U}) {
    injector_.participant = hit;
    const result r = simulate("  - {do: kill, who: holder, at: 1s}\n", &injector_,
                              "participants: 2\nhold: 3s\nwait: 5s\nstop: {duration: 4s}\n");
    ASSERT_EQ(r.faults.size(), 1U);
    ASSERT_TRUE(r.faults[0].predicted);
    why.push_back(r.faults[0].predicted->why);
  }
  EXPECT_THAT(why, testing::UnorderedElementsAre("it held nothing", HasSubstr("connection")));
}

TEST_F(faulted_runs, tell_those_who_watch_what_is_on) {
  simulate("  - {do: pause, who: master, at: 2500ms, for: 2s}\n", &injector_);
  ASSERT_GE(active_.size(), 8U);
  EXPECT_THAT(active_[0], IsEmpty());
  EXPECT_THAT(active_[3], ElementsAre("pause_master"));
  EXPECT_THAT(active_[6], IsEmpty());
}

TEST_F(faulted_runs, end_where_a_fault_fails) {
  injector_.fails = true;
  const result r = simulate("  - {do: pause, who: master, at: 2s, for: 3s}\n", &injector_);
  EXPECT_EQ(r.how, ending::failed);
  EXPECT_EQ(r.why, "faults.1: pause_master failed: redis-1 is not there");
  EXPECT_LT(r.window_s(), 3);
  EXPECT_TRUE(injector_.ended_all);
}

// The injector's own proxies die: the run ends with its sentence, and keeps its measurements.
TEST_F(faulted_runs, ends_with_the_trouble_of_the_injector) {
  injector_.breaks_at = time_point{} + 4s;
  const result r = simulate("  - {do: pause, who: master, at: 2s, for: 1s}\n", &injector_);
  EXPECT_EQ(r.how, ending::failed);
  EXPECT_EQ(r.why, "gone");
  EXPECT_GT(r.found.grants, 1000U);
  EXPECT_LT(r.window_s(), 5);
  EXPECT_TRUE(injector_.ended_all);
}

// It dies while the last attempts end: they may have been affected, so the figures are incomplete.
TEST_F(faulted_runs, are_not_complete_when_the_arena_breaks_at_their_end) {
  injector_.breaks_at = time_point{} + 10'600ms;
  const result r = simulate("  - {do: pause, who: master, at: 9s, for: 1s}\n", &injector_);
  EXPECT_EQ(r.how, ending::failed);
  EXPECT_GT(r.window_s(), 9.9);
}

// The interval sink starts to fail: reported once, and measuring goes on.
TEST_F(faulted_runs, survive_those_they_pass_intervals_to) {
  int calls = 0;
  on_interval_ = [&calls](const interval&, std::int64_t at_ns) {
    ++calls;
    if (at_ns > 3'000'000'000) throw std::runtime_error("no room");
  };
  const result r = simulate("  - {do: pause, who: master, at: 1s, for: 1s}\n", &injector_);
  EXPECT_EQ(r.how, ending::failed);
  EXPECT_EQ(r.why, "no room");
  EXPECT_GT(r.found.grants, 1000U);
  EXPECT_LT(r.window_s(), 5);
  EXPECT_LT(calls, 10);
}

TEST_F(faulted_runs, say_which_fault_never_came) {
  const result r = simulate("  - {do: kill, who: holder, on: SETNX}\n", &injector_);
  EXPECT_THAT(r.preflight, ElementsAre(HasSubstr("holder never sent 'SETNX'")));
  EXPECT_THAT(r.marks, IsEmpty());
}

TEST_F(faulted_runs, are_refused_where_nobody_can_inflict_them) {
  EXPECT_THROW(simulate("  - {do: pause, who: master, at: 2s, for: 3s}\n", nullptr), usage_error);
}

}  // namespace
}  // namespace lockmark::run
