// Runs whose load comes from agents: what happens when one of those involved is killed, stopped,
// cut off or slow.
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>

#include "deploy/local/process.hpp"
#include "deploy/local/test_support.hpp"
#include "harness/async/scope.hpp"
#include "harness/faults/proxy/process.hpp"
#include "program/agents_fixture.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// An agent and what it has started.
std::vector<pid_t> processes_of(const program& agent) {
  auto all = children_of(agent.pid());
  all.push_back(agent.pid());
  return all;
}

class lost_agents : public agents_fixture {
 protected:
  // What the agents kept makes a run.
  void expect_merged();
};

void lost_agents::expect_merged() {
  std::vector<std::string> words{"merge", "--out", (dir_ / "merged").string()};
  for (const auto& part : std::filesystem::directory_iterator(dir_ / "parts")) {
    words.push_back(part.path().string());
  }
  const ended e = run(dir_.path(), words);
  EXPECT_EQ(e.status, 3) << e.err;
  const auto r = read_json(only_folder(dir_ / "merged") / "run.json");
  EXPECT_EQ(r["verdict"]["violations"], 0) << e.out;
  EXPECT_EQ(r["run"]["status"], "interrupted");
  EXPECT_EQ(r["hosts"].size(), 2U);
  const double granted = r["tps"].get<double>() * r["run"]["window_s"].get<double>();
  EXPECT_GT(granted, 50);
  // Each counted attempt was granted; of those at its end, some are on one side of it only.
  EXPECT_NEAR(granted, r["samples"].get<double>(), 40);
  words.push_back(words.back());
  EXPECT_THAT(run(dir_.path(), words).err, HasSubstr("which there is already"));
  EXPECT_THAT(run(dir_.path(), {"merge", dir_.path().string()}).err, HasSubstr("there is no part"));
}

// Killed with all that it had started: the run goes on without it, and says so.
TEST_F(lost_agents, an_agent_that_is_killed_is_lost_and_the_run_goes_on) {
  program c = coordinator(2, {"--duration", "8s"});
  program one = agent(c, "one"), two = agent(c, "two");
  ASSERT_TRUE(c.says("measuring", 2)) << c.err();
  const auto participants = children_of(two.pid());
  ASSERT_THAT(participants, Not(IsEmpty()));
  two.signal(SIGKILL);
  ASSERT_TRUE(c.says("agent two is lost")) << c.err();
  EXPECT_TRUE(std::ranges::none_of(participants, local::is_running));
  const ended e = c.wait(30s);
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.out << e.err;
  const auto r = result();
  EXPECT_EQ(r["run"]["status"], "complete");
  EXPECT_EQ(r["verdict"]["violations"], 0);
  EXPECT_EQ(marks("host_lost").size(), 1U);
  EXPECT_EQ(host("two")["lost"], true);
  EXPECT_EQ(host("one")["lost"], false);
  EXPECT_THAT(e.out, HasSubstr("agent two was lost"));
}

// On an agent's machine as on this one.
TEST_F(lost_agents, a_participant_that_is_killed_ends_nothing_else) {
  program c = coordinator(2, {"--duration", "6s", "--set", "participants=4"});
  program one = agent(c, "one"), two = agent(c, "two");
  ASSERT_TRUE(c.says("measuring", 2)) << c.err();
  const auto participants = children_of(two.pid());
  ASSERT_EQ(participants.size(), 2U);
  kill(participants.front(), SIGKILL);
  const ended e = c.wait(30s);
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.out << e.err;
  const auto r = result();
  EXPECT_EQ(r["run"]["status"], "complete");
  EXPECT_EQ(r["verdict"]["violations"], 0);
  EXPECT_EQ(marks("participant_died").size(), 1U);
  EXPECT_THAT(marks("host_lost"), IsEmpty());
  EXPECT_EQ(host("two")["lost"], false);
  EXPECT_THAT(e.out, HasSubstr("was killed by signal 9"));
  EXPECT_EQ(one.wait(20s).status, 0);
  EXPECT_EQ(two.wait(20s).status, 0);
}

// Stopped for five seconds with its participants, as a host that stands still.
TEST_F(lost_agents, an_agent_that_stands_still_spoils_the_figures_and_goes_on) {
  program c = coordinator(2, {"--duration", "9s", "--set", "give_up_after=30s"});
  program one = agent(c, "one"), two = agent(c, "two");
  ASSERT_TRUE(c.says("measuring", 2)) << c.err();
  const auto all = processes_of(two);
  for (const pid_t p : all) kill(p, SIGSTOP);
  poll(nullptr, 0, 5'000);
  for (const pid_t p : all) kill(p, SIGCONT);
  const ended e = c.wait(30s);
  EXPECT_THAT(e.err, HasSubstr("agent two is silent"));
  EXPECT_THAT(e.err, HasSubstr("agent two is heard again"));
  const auto r = result();
  EXPECT_EQ(r["run"]["status"], "complete") << e.err;
  EXPECT_EQ(r["verdict"]["violations"], 0) << e.out;
  EXPECT_EQ(host("two")["lost"], false);
  EXPECT_TRUE(r["verdict"]["valid"] == false || r["verdict"]["bound"] == true) << e.out;
  EXPECT_THAT(marks("stood_still"), Not(IsEmpty()));
}

// Stopped for good: given up, and when it wakes it ends by itself.
TEST_F(lost_agents, an_agent_that_never_wakes_is_given_up) {
  program c = coordinator(2, {"--duration", "14s", "--set", "give_up_after=30s"});
  program one = agent(c, "one"), two = agent(c, "two");
  ASSERT_TRUE(c.says("measuring", 2)) << c.err();
  const auto all = processes_of(two);
  for (const pid_t p : all) kill(p, SIGSTOP);
  const ended e = c.wait(60s);
  EXPECT_THAT(e.err, HasSubstr("agent two is lost"));
  EXPECT_EQ(result()["run"]["status"], "complete") << e.err;
  EXPECT_EQ(marks("host_lost").size(), 1U);
  for (const pid_t p : all) kill(p, SIGCONT);
  EXPECT_EQ(two.wait(20s).status, 2);
  EXPECT_TRUE(std::ranges::none_of(all, local::is_running));
}

// Nobody wants their load any more.
TEST_F(lost_agents, agents_end_by_themselves_when_their_coordinator_is_killed) {
  program c = coordinator(2, {"--duration", "60s"});
  program one = agent(c, "one"), two = agent(c, "two");
  ASSERT_TRUE(c.says("measuring", 2)) << c.err();
  auto all = children_of(one.pid());
  const auto others = children_of(two.pid());
  all.insert(all.end(), others.begin(), others.end());
  const time_point killed = real_clock{}.now();
  c.signal(SIGKILL);
  for (program* p : {&one, &two}) {
    const ended e = p->wait(20s);
    EXPECT_EQ(e.status, 2);
    EXPECT_THAT(e.err, HasSubstr("is gone"));
  }
  EXPECT_LT(real_clock{}.now() - killed, 15s);  // 5 on an idle machine
  expect_merged();
  EXPECT_TRUE(std::ranges::none_of(all, local::is_running));
  EXPECT_THAT(left_behind(), IsEmpty()) << "their locks were released";
}

TEST_F(lost_agents, ctrl_c_ends_all_of_them) {
  program c = coordinator(2, {"--duration", "60s"});
  program one = agent(c, "one"), two = agent(c, "two");
  ASSERT_TRUE(c.says("measuring", 2)) << c.err();
  c.signal(SIGINT);
  EXPECT_EQ(c.wait(20s).status, 3);
  EXPECT_EQ(one.wait(20s).status, 0) << one.err();
  EXPECT_EQ(two.wait(20s).status, 0);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "parts"));
  EXPECT_EQ(result()["run"]["status"], "interrupted");
  EXPECT_THAT(left_behind(), IsEmpty());
}

// An agent whose own Ctrl-C is pressed leaves; the run goes on.
TEST_F(lost_agents, ctrl_c_of_an_agent_is_its_own) {
  program c = coordinator(2, {"--duration", "8s"});
  program one = agent(c, "one"), two = agent(c, "two");
  ASSERT_TRUE(c.says("measuring", 2)) << c.err();
  two.signal(SIGINT);
  EXPECT_EQ(two.wait(20s).status, 2);
  const ended e = c.wait(30s);
  EXPECT_EQ(result()["run"]["status"], "complete") << e.err;
  EXPECT_EQ(result()["verdict"]["violations"], 0);
}

// The way of an agent to its coordinator, which can be cut.
class proxied_way {
 public:
  explicit proxied_way(const program& coordinator) {
    const std::string join = address_of(coordinator);
    const auto port = static_cast<std::uint16_t>(std::stoi(join.substr(join.rfind(':') + 1)));
    way_ = proxies_.open({"127.0.0.1", port});
  }
  std::string join() const { return fmt::format("127.0.0.1:{}", way_.port); }
  void set(faults::link_mode mode) {
    const real_clock clock;
    loop l{clock};
    run_to_end(l, proxies_.set(l, {way_.link}, mode));
  }

 private:
  faults::proxy_process proxies_{{LOCKMARK_BINARY, "proxy"}};
  faults::proxied way_;
};

// The connection of one agent breaks and comes back: what was measured meanwhile arrives, once.
TEST_F(lost_agents, what_was_measured_while_a_link_was_cut_is_delivered_once) {
  program c = coordinator(2, {"--duration", "6s", "--lock", "redis/lua"});
  proxied_way way(c);
  program one = agent(c, "one");
  program two(agent_command(dir_, way.join(), "two"), dir_.path());
  ASSERT_TRUE(c.says("measuring", 2)) << c.err();
  way.set(faults::link_mode::cut);
  poll(nullptr, 0, 1'000);
  way.set(faults::link_mode::pass);
  const ended e = c.wait(30s);
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.out << e.err;
  const auto r = result();
  EXPECT_EQ(host("two")["lost"], false);
  EXPECT_EQ(r["cost_per_acquire"]["grants"], r["cost_per_acquire"]["server"]["cmd.del"]);
}

// A coordinator that takes nothing for a while: an agent keeps what it measured, its load does not
// wait, and what it may not keep any more ends the run, with the reason.
TEST_F(lost_agents, more_than_an_agent_may_keep_ends_the_run) {
  program c = coordinator(
      2, {"--duration", "30s", "--hold", "0s", "--set", "load.think=0s", "--set", "keys=own"});
  proxied_way way(c);
  program one = agent(c, "one");
  auto small = agent_command(dir_, way.join(), "two");
  // So little that a slow machine fills it, too, before the agent takes its coordinator for gone.
  // If the coordinator is kept from its work, it fills before the stall, which ends no differently.
  small.insert(small.end(), {"--buffer", "0.1"});
  program two(small, dir_.path());
  c.says("measuring");
  way.set(faults::link_mode::stall);
  EXPECT_TRUE(two.says("more than it may keep"));
  way.set(faults::link_mode::pass);
  const ended e = c.wait(30s);
  EXPECT_EQ(e.status, 2) << e.out << e.err;
  const std::string why = "agent two: it measured more than the coordinator took in time";
  EXPECT_THAT(e.err, HasSubstr(why));
  const auto r = result();
  EXPECT_EQ(r["run"]["status"], "failed");
  EXPECT_THAT(r["run"]["why"].get<std::string>(), HasSubstr(why));
  EXPECT_EQ(r["verdict"]["violations"], 0);
  EXPECT_THAT(left_behind(), IsEmpty());
}

}  // namespace
}  // namespace lockmark::cli
