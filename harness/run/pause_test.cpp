// A pause of the whole process is no fault of what it was waiting for: nothing is given up for it.
// Under simulated time, which a call moves on while everything else stands still.
#include <gtest/gtest.h>

#include "drivers/faulty/faulty.hpp"
#include "harness/run/awake_time.hpp"
#include "harness/run/driver_calls.hpp"
#include "harness/run/run_job.hpp"
#include "harness/run/test_passing.hpp"
#include "workloads/workloads.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

TEST(awake_time, counts_a_pause_as_one_second) {
  simulated_clock clock;
  awake_time waited(clock.now());
  clock.advance(100ms);
  EXPECT_EQ(waited.passed(clock.now()), 100ms);
  clock.advance(1h);
  EXPECT_EQ(waited.passed(clock.now()), 1100ms);
  waited.restart(clock.now());
  EXPECT_EQ(waited.passed(clock.now()), 0ms);
}

// What a call does: its server answers soon, but the process is paused first.
task<void> answered_after_a_pause(loop& l, simulated_clock& clock, duration pause) {
  co_await l.sleep_for(1ms);
  clock.advance(pause);
  co_await l.sleep_for(1ms);
}

task<void> wait_for(driver_calls& calls, task<void> call, time_point by, bool& ended) {
  co_await calls.wait_for(std::move(call), by, "wipe");
  ended = true;
}

TEST(a_call, has_its_time_after_a_pause) {
  simulated_clock clock;
  loop l(clock);
  driver_calls calls(l, "faulty/lock", 10s);
  bool ended = false;
  run_to_end(l, wait_for(calls, answered_after_a_pause(l, clock, 1h), clock.now() + 1s, ended));
  EXPECT_TRUE(ended);
}

// Pauses the process in the first release after `from`.
class paused_session final : public passing_session {
 public:
  paused_session(loop& l, simulated_clock& clock, std::unique_ptr<session> inside, time_point from)
      : passing_session(std::move(inside)), loop_(l), clock_(clock), from_(from) {}
  task<outcome<nothing>> release(request r) override {
    if (loop_.now() >= from_) {
      from_ = time_point::max();
      co_await answered_after_a_pause(loop_, clock_, 1h);
    }
    co_return co_await passing_session::release(r);
  }

 private:
  loop& loop_;
  simulated_clock& clock_;
  time_point from_;
};

class paused_driver final : public passing_driver {
 public:
  paused_driver(std::unique_ptr<driver> inside, simulated_clock& clock, time_point from)
      : passing_driver(std::move(inside)), clock_(clock), from_(from) {}
  task<std::unique_ptr<session>> open(loop& l, instance who, time_point by) override {
    auto opened = co_await passing_driver::open(l, std::move(who), by);
    co_return std::make_unique<paused_session>(l, clock_, std::move(opened), from_);
  }

 private:
  simulated_clock& clock_;
  const time_point from_;
};

// The window ends after 2 s, and the holds that were begun in it after 2.4 s.
TEST(a_run, is_not_given_up_for_a_pause_at_its_end) {
  const lock_kind kind = faulty::kinds().front();
  const config::job job = config::parse_job(R"(
load: {loop: closed, instances: 4, clients: 1}
keys: own
hold: 400ms
lease: 30s
wait: 1s
warmup: 0s
stop: {duration: 2s}
)",
                                            "test.yaml");
  option_values options;
  for (const lock_option& o : kind.options) options[std::string(o.name)] = o.preset;
  const names n{"test", {"a", "b", "c", "d"}};
  simulated_clock clock;
  paused_driver behind(kind.make({"memory:", n, options}), clock, clock.now() + 2200ms);
  const workload_kind workload = workloads::mutex();
  setup s{.job = job,
          .lock = kind,
          .behind = behind,
          .workload = workload,
          .run_id = "test",
          .target = "memory:",
          .topology = "memory"};
  std::vector<std::string> stuck;
  s.on_stuck = [&](result&, const std::string& sentence) { stuck.push_back(sentence); };
  const result r = run_job_simulated(s, clock);
  EXPECT_EQ(stuck, std::vector<std::string>{});
  EXPECT_GT(clock.now(), time_point{} + 1h) << "there was no pause";
  EXPECT_NE(r.how, ending::failed) << r.why;
}

}  // namespace
}  // namespace lockmark::run
