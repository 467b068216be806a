// Faults on schedule, with an injector that only records calls, in simulated time.
#include "harness/faults/schedule.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/driver.hpp"
#include "harness/faults/kind.hpp"

namespace lockmark::faults {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Records its calls, with the time in ms.
class notebook final : public injector {
 public:
  explicit notebook(loop& l) : loop_(l), cancelled_(l) {}

  void check(const fault_plan& plan) const override {
    if (plan.who == "replicas") throw usage_error("faults: there are no replicas here");
  }

  task<bool> awaited(loop& l, fault_plan plan, time_point deadline) override {
    note("await", plan);
    const time_point hit = from_ns(0) + hit_at;
    const bool given_up = co_await cancelled_.wait_until(std::min(hit, deadline));
    const bool came = !given_up && l.now() == hit;
    co_return came;
  }

  void stop_waiting() noexcept override { cancelled_.set(); }

  task<active_fault> begin(loop& l, fault_plan plan) override {
    note("begin", plan);
    active_fault made;
    made.whom = "redis-1";
    made.began = l.now();
    made.handle = ++handles_;
    co_await l.sleep_for(begin_takes);
    if (fails) throw no_server("redis-1 cannot be killed");
    co_return made;
  }

  task<void> end(loop& l, fault_plan plan, active_fault which) override {
    note(fmt::format("end {}", which.handle), plan);
    co_await l.sleep_for(end_takes);
    if (end_fails) throw no_server("redis-1 does not come back");
  }

  task<void> end_all(loop&) override {
    notes.push_back(fmt::format("{} end_all", ms()));
    co_return;
  }

  std::vector<std::string> notes;
  duration begin_takes{};
  duration end_takes{};
  duration hit_at = 1h;
  bool fails = false;
  bool end_fails = false;

 private:
  std::int64_t ms() const { return to_ns(loop_.now()) / 1'000'000; }
  void note(const std::string& what, const fault_plan& plan) {
    notes.push_back(fmt::format("{} {} {}", ms(), what, plan.who));
  }

  loop& loop_;
  signal cancelled_;
  int handles_ = 0;
};

class schedules : public testing::Test {
 protected:
  // Runs the faults until `stop_at`, then waits for their end.
  void play(std::vector<fault_plan> plans, duration stop_at = 10s) {
    schedule_ = std::make_unique<schedule>(loop_, std::move(plans), &injector_);
    run_to_end(loop_, conduct(stop_at));
  }

  task<void> conduct(duration stop_at) {
    schedule_->begin(loop_.now(), loop_.now() + 1h);
    for (const duration glance : glances_) {
      co_await loop_.sleep_until(from_ns(0) + glance);
      active_.push_back(schedule_->active());
    }
    co_await loop_.sleep_until(from_ns(0) + stop_at);
    schedule_->stop();
    co_await schedule_->join();
  }

  simulated_clock clock_;
  loop loop_{clock_};
  notebook injector_{loop_};
  std::vector<duration> glances_;
  std::vector<std::vector<std::string>> active_;
  std::unique_ptr<schedule> schedule_;
};

fault_plan pause_of(std::string who, duration at, duration lasts) {
  fault_plan plan;
  plan.what = find_kind("pause");
  plan.who = std::move(who);
  plan.at = at;
  plan.lasts = lasts;
  return plan;
}

TEST_F(schedules, begin_and_end_faults_at_their_times) {
  play({pause_of("master", 2s, 3s), pause_of("holder", 1s, 500ms)});
  EXPECT_THAT(injector_.notes,
              ElementsAre("1000 begin holder", "1500 end 1 holder", "2000 begin master",
                          "5000 end 2 master", "10000 end_all"));
  ASSERT_EQ(schedule_->all().size(), 2U);
  const infliction& first = schedule_->all()[0];
  EXPECT_EQ(first.kind, "pause_holder");
  EXPECT_EQ(first.text, "the holder was paused for 500 ms (redis-1)");
  EXPECT_EQ(first.began, from_ns(1'000'000'000));
  EXPECT_EQ(first.lasted, 500ms);
  EXPECT_TRUE(schedule_->over());
  EXPECT_EQ(schedule_->failure(), "");
}

// The fault begins before it takes effect and lasts until the server is back.
TEST_F(schedules, count_the_time_that_a_fault_takes) {
  injector_.begin_takes = 100ms;
  injector_.end_takes = 700ms;
  play({pause_of("master", 2s, 3s)});
  EXPECT_EQ(schedule_->all()[0].began, from_ns(2'000'000'000));
  EXPECT_EQ(schedule_->all()[0].lasted, 3700ms);
}

TEST_F(schedules, repeat_what_shall_be_repeated) {
  fault_plan plan = pause_of("master", 1s, 1s);
  plan.every = 3s;
  play({plan}, 8500ms);
  EXPECT_THAT(
      injector_.notes,
      ElementsAre("1000 begin master", "2000 end 1 master", "4000 begin master",
                  "5000 end 2 master", "7000 begin master", "8000 end 3 master", "8500 end_all"));
}

// A restart takes longer than the interval between two kills: the kills stay on their beat.
TEST_F(schedules, skip_what_a_slow_fault_has_missed) {
  fault_plan plan = pause_of("master", 1s, 1s);
  plan.every = 2s;
  injector_.end_takes = 1500ms;
  play({plan}, 8900ms);
  EXPECT_THAT(injector_.notes,
              ElementsAre("1000 begin master", "2000 end 1 master", "5000 begin master",
                          "6000 end 2 master", "8900 end_all"));
}

TEST_F(schedules, end_what_is_on_when_the_window_ends) {
  play({pause_of("master", 2s, 30s), pause_of("holder", 20s, 1s)}, 4s);
  EXPECT_THAT(injector_.notes,
              ElementsAre("2000 begin master", "4000 end 1 master", "4000 end_all"));
  EXPECT_EQ(schedule_->all()[0].lasted, 2s);
}

// A server killed for good is down until the end; killing a participant is instantaneous.
TEST_F(schedules, know_what_stays) {
  fault_plan server;
  server.what = find_kind("kill");
  server.who = "master";
  server.at = 2s;
  fault_plan holder = server;
  holder.who = "holder";
  holder.at = 1s;
  play({server, holder}, 6s);
  ASSERT_EQ(schedule_->all().size(), 2U);
  EXPECT_EQ(schedule_->all()[0].kind, "kill_holder");
  EXPECT_EQ(schedule_->all()[0].lasted, 0s);
  EXPECT_EQ(schedule_->all()[1].lasted, 4s);
}

TEST_F(schedules, say_what_is_on) {
  glances_ = {500ms, 1500ms, 2500ms, 5s};
  play({pause_of("master", 1s, 2s), pause_of("master", 1s, 2s), pause_of("holder", 2s, 1s)});
  EXPECT_THAT(active_, ElementsAre(IsEmpty(), ElementsAre("pause_master"),
                                   ElementsAre("pause_master", "pause_holder"), IsEmpty()));
  EXPECT_EQ(schedule_->last_active(), from_ns(3'000'000'000));
}

TEST_F(schedules, wait_for_a_request) {
  fault_plan plan = pause_of("holder", 0s, 1s);
  plan.on = "SETNX";
  injector_.hit_at = 3s;
  play({plan});
  EXPECT_THAT(injector_.notes, ElementsAre("0 await holder", "3000 begin holder",
                                           "4000 end 1 holder", "10000 end_all"));
  EXPECT_THAT(schedule_->missed(), IsEmpty());
}

TEST_F(schedules, say_that_a_request_never_came) {
  fault_plan plan = pause_of("holder", 0s, 1s);
  plan.on = "SETNX";
  plan.nth = 2;
  play({plan});
  EXPECT_THAT(injector_.notes, ElementsAre("0 await holder", "10000 end_all"));
  EXPECT_THAT(schedule_->missed(),
              ElementsAre("faults.1: holder never sent 'SETNX' 2 times, so that it was not hit"));
}

// A fault that cannot be inflicted is reported, and the rest goes on.
TEST_F(schedules, survive_a_fault_that_fails) {
  injector_.fails = true;
  play({pause_of("master", 2s, 3s), pause_of("master", 4s, 3s)});
  EXPECT_EQ(schedule_->failure(), "faults.1: pause_master failed: redis-1 cannot be killed");
  EXPECT_THAT(schedule_->all(), IsEmpty());
  EXPECT_THAT(injector_.notes,
              ElementsAre("2000 begin master", "4000 begin master", "10000 end_all"));
}

TEST_F(schedules, survive_a_fault_that_does_not_end) {
  injector_.end_fails = true;
  play({pause_of("master", 2s, 3s)});
  EXPECT_THAT(schedule_->failure(), HasSubstr("redis-1 does not come back"));
  EXPECT_EQ(schedule_->all()[0].lasted, 3s);
  EXPECT_THAT(schedule_->active(), IsEmpty());
}

TEST_F(schedules, refuse_what_cannot_be_done_here) {
  EXPECT_THROW(schedule(loop_, {pause_of("replicas", 1s, 1s)}, &injector_), usage_error);
  try {
    schedule(loop_, {pause_of("master", 1s, 1s)}, nullptr);
    ADD_FAILURE() << "was not refused";
  } catch (const usage_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("faults: nothing here can inflict pause_master"));
  }
}

TEST_F(schedules, of_nothing_are_over_at_once) {
  schedule none(loop_, {}, nullptr);
  none.begin(loop_.now(), loop_.now() + 1h);
  none.stop();
  EXPECT_TRUE(none.over());
}

}  // namespace
}  // namespace lockmark::faults
