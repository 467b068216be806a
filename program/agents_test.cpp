// Runs whose load comes from agents: what is measured, who is let in, and what happens when one of
// those involved is killed, stopped or cut off. Here agents are on this machine; on hosts of their
// own they are in agents_hosts_test.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "deploy/local/cluster.hpp"
#include "deploy/local/process.hpp"
#include "deploy/local/test_support.hpp"
#include "harness/async/scope.hpp"
#include "harness/faults/proxy/process.hpp"
#include "program/test_agents.hpp"
#include "program/test_servers.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class agents : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    servers = std::make_unique<local::cluster>(local::cluster::start("redis"));
  }
  static void TearDownTestSuite() { servers.reset(); }

  // Of a run with so many agents, which wait for them.
  program coordinator(int count, std::vector<std::string> more = {}) {
    return start_coordinator(dir_, servers->target(), count, std::move(more));
  }
  program agent(const program& of, const std::string& name) {
    return program(agent_command(dir_, of, name), dir_.path());
  }
  nlohmann::json result() const { return read_json(only_folder(dir_ / "runs") / "run.json"); }
  // The marks of this kind.
  nlohmann::json marks(const std::string& kind) const {
    nlohmann::json all = nlohmann::json::array();
    const nlohmann::json r = result();
    for (const auto& m : r.at("marks")) {
      if (m.at("kind") == kind) all.push_back(m);
    }
    return all;
  }
  // The keys that the run left.
  std::string left_behind() {
    const config::target at = *config::parse_target(servers->target());
    std::string keys = output_of(
        {"redis-cli", "-p", fmt::format("{}", at.hosts.at(0).port), "KEYS", "*"}, dir_.path());
    std::erase(keys, '\n');
    return keys;
  }

  // What the agents kept makes a run.
  void expect_merged();

  static std::unique_ptr<local::cluster> servers;
  scratch dir_;
};
std::unique_ptr<local::cluster> agents::servers;

void agents::expect_merged() {
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

// The script of each release deletes its key, which the server counts: as many as were granted.
TEST_F(agents, every_grant_that_the_server_counted_is_in_the_result) {
  program c = coordinator(
      3, {"--lock", "redis/lua", "--set", "load.instances=6", "--set", "participants=6"});
  const program one = agent(c, "one"), two = agent(c, "two"), three = agent(c, "three");
  const ended e = c.wait(60s);
  EXPECT_EQ(e.status, 0) << e.out << e.err;
  const auto r = result();
  EXPECT_EQ(r["verdict"]["held"], true);
  EXPECT_EQ(r["harness"]["participants"], 6);
  EXPECT_GT(r["cost_per_acquire"]["grants"].get<int>(), 50);
  EXPECT_EQ(r["cost_per_acquire"]["grants"], r["cost_per_acquire"]["server"]["cmd.del"]);
  std::vector<std::vector<int>> shares;
  for (const auto& h : r["hosts"]) {
    shares.push_back(h["participants"]);
    EXPECT_GT(h["clock"]["exchanges"].get<int>(), 10);
    EXPECT_EQ(h["late_ns"], 0);
    EXPECT_LT(std::abs(h["clock"]["offset_ns"].get<std::int64_t>()),
              h["clock"]["error_max_ns"].get<std::int64_t>());
  }
  EXPECT_THAT(shares, ElementsAre(ElementsAre(0, 3), ElementsAre(1, 4), ElementsAre(2, 5)));
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(agents, a_table_has_one_set_of_them_for_all_its_runs) {
  program c(lockmark({"table",
                      "--on",
                      servers->target(),
                      "--locks",
                      "redis/lua",
                      "--scenarios",
                      "contended",
                      "--repeats",
                      "2",
                      "--out",
                      (dir_ / "runs").string(),
                      "--agents",
                      "2",
                      "--invitation",
                      (dir_ / "invitation").string(),
                      "--set",
                      "floor=0s",
                      "--set",
                      "warmup=200ms",
                      "--set",
                      "stop.samples=0",
                      "--set",
                      "stop.owner_changes=0",
                      "--set",
                      "stop.duration=1s",
                      "--set",
                      "stop.at_most=1s"}),
            dir_.path());
  program one = agent(c, "one"), two = agent(c, "two");
  const ended e = c.wait(60s);
  EXPECT_EQ(e.status, 0) << e.out << e.err;
  EXPECT_THAT(e.out, HasSubstr("redis/lua"));
  EXPECT_EQ(one.wait(10s).status, 0);
  EXPECT_EQ(two.wait(10s).status, 0);
}

TEST_F(agents, too_few_are_waited_for_and_counted) {
  program c = coordinator(2, {"--agents-within", "1s"});
  program one = agent(c, "one");
  const ended e = c.wait(20s);
  EXPECT_EQ(e.status, 2);
  EXPECT_THAT(e.err, HasSubstr("1 of 2 agents joined"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "runs"));
  EXPECT_THAT(one.wait(10s).status, AnyOf(0, 2));
}

TEST_F(agents, whoever_has_another_invitation_is_refused) {
  program c = coordinator(1, {"--agents-within", "6s"});
  program other = start_coordinator(dir_, servers->target(), 1, {"--agents-within", "6s"}, "other");
  const std::string join = address_of(c), to_other = (dir_ / "other").string();
  ASSERT_TRUE(other.says("on each machine"));
  // The certificate is another one's, so that it does not even get to show its token.
  const ended stranger =
      run(dir_.path(), {"agent", "--join", join, "--invitation", to_other, "--within", "2s"});
  EXPECT_EQ(stranger.status, 2);
  EXPECT_THAT(stranger.err, HasSubstr("it is not the one of the invitation"));
  // The right certificate, and a token that was made up.
  std::string word = read_text(dir_ / "invitation");
  const auto digit = word.find('.') + 1;
  word[digit] = word[digit] == '0' ? '1' : '0';
  std::ofstream(dir_ / "forged") << word;
  const ended forger = run(dir_.path(), {"agent", "--join", join, "--invitation",
                                         (dir_ / "forged").string(), "--name", "forger"});
  EXPECT_EQ(forger.status, 2);
  EXPECT_THAT(forger.err, is_one_sentence());
  EXPECT_THAT(forger.err, HasSubstr("its token is not that of this run"));
  const ended e = c.wait(20s);
  EXPECT_EQ(e.status, 2);
  EXPECT_THAT(e.err, HasSubstr("0 of 1 agents joined"));
  EXPECT_THAT(e.err, HasSubstr("forger was refused"));
}

TEST_F(agents, one_name_joins_once) {
  program c = coordinator(2);
  program one = agent(c, "one");
  ASSERT_TRUE(one.says("joined"));
  program again = agent(c, "one");
  const ended refused = again.wait(20s);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("there is an agent one already; --name tells them apart"));
  program two = agent(c, "two");
  EXPECT_EQ(c.wait(60s).status, 0) << c.err();
}

TEST_F(agents, an_agent_says_what_it_lacks) {
  const auto says = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "agent");
    const ended e = run(dir_.path(), words);
    EXPECT_EQ(e.status, 2);
    EXPECT_THAT(e.err, is_one_sentence());
    return e.err;
  };
  std::ofstream(dir_ / "nonsense") << "hunter2";
  EXPECT_THAT(says({}), HasSubstr("--join"));
  EXPECT_THAT(says({"--join", "127.0.0.1:9"}), HasSubstr("--invitation"));
  const std::string wrong = says({"--join", "127.0.0.1:9", "--invitation", dir_ / "nonsense"});
  EXPECT_THAT(wrong, HasSubstr("not an invitation"));
  EXPECT_THAT(wrong, Not(HasSubstr("hunter2")));
}

TEST_F(agents, a_coordinator_says_what_it_cannot) {
  const auto says = [&](std::vector<std::string> more) {
    std::vector<std::string> words{
        "run", "contended", "--on", servers->target(), "--out", (dir_ / "runs").string()};
    words.insert(words.end(), more.begin(), more.end());
    const ended e = run(dir_.path(), words);
    EXPECT_EQ(e.status, 2);
    EXPECT_THAT(e.err, is_one_sentence());
    return e.err;
  };
  EXPECT_THAT(says({"--listen", "127.0.0.1:0"}), HasSubstr("--agents N"));
  EXPECT_THAT(says({"--agents", "1", "--listen", "7070"}), HasSubstr("ADDRESS:PORT"));
  EXPECT_THAT(says({"--agents", "1", "--listen", "192.0.2.1:7070"}),
              HasSubstr("cannot listen on 192.0.2.1:7070"));
  EXPECT_THAT(says({"--hosts", "a,b"}), HasSubstr("--listen ADDRESS:0"));
  EXPECT_THAT(says({"--agents", "1", "--launch", "exit 3"}), HasSubstr("ended with exit status 3"));
}

// Killed with all that it had started: the run goes on without it, and says so.
TEST_F(agents, an_agent_that_is_killed_is_lost_and_the_run_goes_on) {
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
  EXPECT_EQ(r["hosts"][1]["lost"], true);
  EXPECT_EQ(r["hosts"][0]["lost"], false);
  EXPECT_THAT(e.out, HasSubstr("agent two was lost"));
}

// Stopped for five seconds with its participants, as a host that stands still.
TEST_F(agents, an_agent_that_stands_still_spoils_the_figures_and_goes_on) {
  program c = coordinator(2, {"--duration", "9s", "--set", "give_up_after=30s"});
  program one = agent(c, "one"), two = agent(c, "two");
  ASSERT_TRUE(c.says("measuring", 2)) << c.err();
  auto all = children_of(two.pid());
  all.push_back(two.pid());
  for (const pid_t p : all) kill(p, SIGSTOP);
  poll(nullptr, 0, 5'000);
  for (const pid_t p : all) kill(p, SIGCONT);
  const ended e = c.wait(30s);
  EXPECT_THAT(e.err, HasSubstr("agent two is silent"));
  EXPECT_THAT(e.err, HasSubstr("agent two is heard again"));
  const auto r = result();
  EXPECT_EQ(r["run"]["status"], "complete") << e.err;
  EXPECT_EQ(r["verdict"]["violations"], 0) << e.out;
  EXPECT_EQ(r["hosts"][1]["lost"], false);
  EXPECT_TRUE(r["verdict"]["valid"] == false || r["verdict"]["bound"] == true) << e.out;
  EXPECT_THAT(marks("stood_still"), Not(IsEmpty()));
}

// Stopped for good: given up, and when it wakes it ends by itself.
TEST_F(agents, an_agent_that_never_wakes_is_given_up) {
  program c = coordinator(2, {"--duration", "14s", "--set", "give_up_after=30s"});
  program one = agent(c, "one"), two = agent(c, "two");
  ASSERT_TRUE(c.says("measuring", 2)) << c.err();
  auto all = children_of(two.pid());
  all.push_back(two.pid());
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
TEST_F(agents, agents_end_by_themselves_when_their_coordinator_is_killed) {
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

TEST_F(agents, ctrl_c_ends_all_of_them) {
  program c = coordinator(2, {"--duration", "60s"});
  program one = agent(c, "one"), two = agent(c, "two");
  ASSERT_TRUE(c.says("measuring", 2)) << c.err();
  c.signal(SIGINT);
  EXPECT_EQ(c.wait(20s).status, 3);
  EXPECT_EQ(one.wait(20s).status, 0) << one.err();
  EXPECT_EQ(two.wait(20s).status, 0);
  EXPECT_EQ(result()["run"]["status"], "interrupted");
  EXPECT_THAT(left_behind(), IsEmpty());
}

// An agent whose own Ctrl-C is pressed leaves; the run goes on.
TEST_F(agents, ctrl_c_of_an_agent_is_its_own) {
  program c = coordinator(2, {"--duration", "8s"});
  program one = agent(c, "one"), two = agent(c, "two");
  ASSERT_TRUE(c.says("measuring", 2)) << c.err();
  two.signal(SIGINT);
  EXPECT_EQ(two.wait(20s).status, 2);
  const ended e = c.wait(30s);
  EXPECT_EQ(result()["run"]["status"], "complete") << e.err;
  EXPECT_EQ(result()["verdict"]["violations"], 0);
}

// The connection of one agent breaks and comes back: what was measured meanwhile arrives, once.
TEST_F(agents, what_was_measured_while_a_link_was_cut_is_delivered_once) {
  program c = coordinator(2, {"--duration", "6s", "--lock", "redis/lua"});
  const std::string join = address_of(c);
  faults::proxy_process proxies({LOCKMARK_BINARY, "proxy"});
  const auto port = static_cast<std::uint16_t>(std::stoi(join.substr(join.rfind(':') + 1)));
  const faults::proxied way = proxies.open({"127.0.0.1", port});
  program one = agent(c, "one");
  program two(agent_command(dir_, fmt::format("127.0.0.1:{}", way.port), "two"), dir_.path());
  ASSERT_TRUE(c.says("measuring", 2)) << c.err();
  const real_clock clock;
  loop l{clock};
  run_to_end(l, proxies.set(l, {way.link}, faults::link_mode::cut));
  poll(nullptr, 0, 1'000);
  run_to_end(l, proxies.set(l, {way.link}, faults::link_mode::pass));
  const ended e = c.wait(30s);
  EXPECT_EQ(e.status, 0) << e.out << e.err;
  const auto r = result();
  EXPECT_EQ(r["hosts"][1]["lost"], false);
  EXPECT_EQ(r["cost_per_acquire"]["grants"], r["cost_per_acquire"]["server"]["cmd.del"]);
}

// A coordinator that takes nothing for a while: an agent keeps what it measured, its load does not
// wait, and what it may not keep any more ends the run, with the reason.
TEST_F(agents, more_than_an_agent_may_keep_ends_the_run) {
  program c = coordinator(
      2, {"--duration", "30s", "--hold", "0s", "--set", "load.think=0s", "--set", "keys=own"});
  const std::string join = address_of(c);
  faults::proxy_process proxies({LOCKMARK_BINARY, "proxy"});
  const auto port = static_cast<std::uint16_t>(std::stoi(join.substr(join.rfind(':') + 1)));
  const faults::proxied way = proxies.open({"127.0.0.1", port});
  program one = agent(c, "one");
  auto small = agent_command(dir_, fmt::format("127.0.0.1:{}", way.port), "two");
  small.insert(small.end(), {"--buffer", "0.4"});
  program two(small, dir_.path());
  ASSERT_TRUE(c.says("measuring", 2)) << c.err();
  const real_clock clock;
  loop l{clock};
  run_to_end(l, proxies.set(l, {way.link}, faults::link_mode::stall));
  EXPECT_TRUE(two.says("more than it may keep"));
  run_to_end(l, proxies.set(l, {way.link}, faults::link_mode::pass));
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
