// How the sessions of a run are opened and closed: concurrently, but not all at once, each with its
// own time limit. Under simulated time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "drivers/memory/memory.hpp"
#include "harness/run/run_job.hpp"
#include "harness/run/test_passing.hpp"
#include "workloads/workloads.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// A server with slow logins, which notes how many run at once.
struct slow_door {
  duration takes = 100ms;
  duration leaving_takes = 100ms;
  std::uint32_t silent_to = 1'000'000;  // the instance that never gets an answer
  bool counts_clients = false;          // its sessions report each of their clients
  bool creates_in_silence = false;      // prepare() ends without an answer

  std::vector<duration> wiping;  // until the deadline of each wipe()

  int under_way = 0;
  int most = 0;
  int opened = 0;
  duration each_allowed{};        // of a session's connections
  std::vector<duration> allowed;  // until the deadline of each session, at its open()

  task<void> pass(loop& l, duration how_long) {
    most = std::max(most, ++under_way);
    co_await l.sleep_for(how_long);
    --under_way;
  }
};

class slow_session final : public passing_session {
 public:
  slow_session(loop& l, std::unique_ptr<session> inside, slow_door& door)
      : passing_session(std::move(inside)), loop_(l), door_(door) {}
  task<void> close() override {
    co_await door_.pass(loop_, door_.leaving_takes);
    co_await passing_session::close();
    --door_.opened;
  }

 private:
  loop& loop_;
  slow_door& door_;
};

class slow_driver final : public passing_driver {
 public:
  slow_driver(std::unique_ptr<driver> inside, slow_door& door)
      : passing_driver(std::move(inside)), door_(door) {}
  task<description> prepare(loop& l, time_point by) override {
    if (door_.creates_in_silence) {
      co_await l.sleep_until(by + creating_within);
      throw unanswered_change("the server did not say whether it created the table");
    }
    co_return co_await passing_driver::prepare(l, by);
  }
  task<void> wipe(loop& l, time_point by) override {
    door_.wiping.push_back(by - l.now());
    return passing_driver::wipe(l, by);
  }
  task<std::unique_ptr<session>> open(loop& l, instance who, time_point by) override {
    door_.allowed.push_back(by - l.now());
    door_.each_allowed = who.login_within;
    if (who.number == door_.silent_to) {
      co_await l.sleep_until(by);
      throw no_server("the server did not answer in time");
    }
    co_await door_.pass(l, door_.takes);
    for (std::uint32_t i = 0; door_.counts_clients && i < who.clients; ++i) {
      who.on_login();
      co_await l.sleep_for(1s);
    }
    ++door_.opened;
    auto inside = co_await passing_driver::open(l, std::move(who), by);
    co_return std::make_unique<slow_session>(l, std::move(inside), door_);
  }

 private:
  slow_door& door_;
};

struct opening : testing::Test {
  // Returns the sentence of the run's exception, or "".
  std::string run(int instances, int clients, std::atomic<int>* interrupts = nullptr) {
    const lock_kind kind = memory::kinds().front();
    const config::job job = config::parse_job(
        fmt::format("load: {{loop: closed, instances: {}, clients: {}}}\nkeys: one\nhold: 10ms\n"
                    "wait: 1s\nwarmup: 0s\nstop: {{duration: 1s, samples: 0}}\n",
                    instances, clients),
        "test.yaml");
    slow_driver behind(kind.make({"memory:", {"test", {"k0"}}, {}}), door);
    const workload_kind workload = workloads::mutex();
    setup s{.job = job,
            .lock = kind,
            .behind = behind,
            .workload = workload,
            .run_id = "test",
            .target = "memory:",
            .topology = "memory"};
    s.interrupts = interrupts;
    s.on_progress = [&](const progress& p) {
      if (p.now == phase::opening) connected.push_back(p.connected);
      if (interrupts != nullptr && p.connected > 0) ++*interrupts;
      EXPECT_EQ(p.clients, instances * clients);
    };
    s.on_window = [&](const result&) { began = clock.now() - started; };
    try {
      how = run_job_simulated(s, clock).how;
    } catch (const std::exception& e) {
      return e.what();
    }
    return {};
  }

  slow_door door;
  simulated_clock clock;
  time_point started = clock.now();
  duration began{};  // the window, since the run was started
  std::optional<ending> how;
  std::vector<std::int64_t> connected;  // as shown meanwhile
};

// What a silent server may have created is worth the time that cleaning up after a load has.
TEST_F(opening, removes_what_may_have_been_created) {
  door.creates_in_silence = true;
  EXPECT_EQ(run(1, 1), "the server did not say whether it created the table");
  EXPECT_THAT(door.wiping, testing::ElementsAre(10s));
}

// 480 logins of 100 ms take a second, not 48.
TEST_F(opening, takes_forty_eight_at_a_time) {
  EXPECT_EQ(run(480, 1), "");
  EXPECT_EQ(door.most, 48);
  EXPECT_LT(began, 1500ms);
  EXPECT_EQ(door.opened, 0) << "closing, too, is side by side";
  EXPECT_LT(clock.now() - started, 6s);
}

// Sessions that have to wait for others get no less time to connect.
TEST_F(opening, gives_each_session_its_own_time) {
  door.takes = 4s;
  EXPECT_EQ(run(480, 1), "");
  ASSERT_EQ(door.allowed.size(), 480U);
  EXPECT_EQ(*std::ranges::min_element(door.allowed), 5s);
  EXPECT_GT(began, 40s);
}

// The same holds for closing.
TEST_F(opening, is_not_stuck_while_sessions_close) {
  door.leaving_takes = 4s;
  EXPECT_EQ(run(480, 1), "");
  EXPECT_EQ(door.opened, 0);
  EXPECT_GT(clock.now() - started, 40s);
}

// A session with many connections of its own has time for all of them, also in lanes.
TEST_F(opening, gives_a_large_session_more_time) {
  EXPECT_EQ(run(1, 480), "");
  ASSERT_EQ(door.allowed.size(), 1U);
  EXPECT_EQ(door.allowed[0], 50s);
  EXPECT_EQ(door.each_allowed, 5s);
}

// Observers see the progress, also within a session.
TEST_F(opening, shows_how_far_it_is) {
  door.takes = 500ms;
  EXPECT_EQ(run(96, 2), "");
  EXPECT_THAT(connected, testing::Contains(96));
  connected.clear();
  door.counts_clients = true;
  EXPECT_EQ(run(1, 20), "");
  EXPECT_THAT(connected, testing::IsSupersetOf({1, 5, 19}));
}

// One client a second for 40 s: an open() that still connects clients is not stuck.
TEST_F(opening, is_not_stuck_while_clients_connect) {
  door.counts_clients = true;
  EXPECT_EQ(run(1, 40), "");
  EXPECT_GT(began, 40s);
}

// The sentence tells how many had connected; and no further login starts.
TEST_F(opening, says_how_many_were_connected) {
  door.silent_to = 100;
  const std::string sentence = run(2000, 1);
  EXPECT_THAT(sentence, HasSubstr("the server did not answer in time; "));
  EXPECT_THAT(sentence, HasSubstr(" of 2000 clients were connected after 5."));
  EXPECT_EQ(door.opened, 0);
  EXPECT_LT(clock.now() - started, 12s);
}

// No client was connected: there is nothing to add.
TEST_F(opening, keeps_the_sentence_of_a_server_that_is_silent) {
  door.silent_to = 0;
  EXPECT_EQ(run(1, 1), "the server did not answer in time");
}

TEST_F(opening, ends_with_an_interrupt) {
  std::atomic<int> interrupts{0};
  door.takes = 1s;
  EXPECT_EQ(run(4800, 1, &interrupts), "");
  EXPECT_EQ(how, ending::interrupted);
  EXPECT_LT(door.allowed.size(), 480U);
  EXPECT_EQ(door.opened, 0);
}

}  // namespace
}  // namespace lockmark::run
