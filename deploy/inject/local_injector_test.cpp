// Faults on real local servers: each is confirmed by a server's answer, or by its silence.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "deploy/inject/injector_fixture.hpp"
#include "deploy/local/roles.hpp"
#include "deploy/local/shell.hpp"
#include "harness/async/scope.hpp"
#include "harness/driver.hpp"

namespace lockmark::inject {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// One Redis, in sequence: killed with and without data, paused, and its clock moved.
TEST(local_injector, kills_pauses_and_moves_the_clock_of_a_server) {
  suffering s(
      "redis",
      {plan_of({{"do", "kill"}, {"who", "master"}, {"at", "0s"}, {"for", "1s"}}),
       plan_of(
           {{"do", "kill"}, {"who", "server 1"}, {"at", "0s"}, {"for", "1s"}, {"data", "lost"}}),
       plan_of({{"do", "pause"}, {"who", "server redis"}, {"at", "0s"}, {"for", "1s"}}),
       plan_of({{"do", "jump_clock"}, {"who", "servers"}, {"at", "0s"}, {"by", "-1h"}})});
  ASSERT_EQ(redis(s.port(), "SET k v"), "OK");
  EXPECT_EQ(s.begin(0), "redis");
  EXPECT_EQ(redis(s.port(), "GET k"), "");
  s.end(0);
  EXPECT_EQ(redis(s.port(), "GET k"), "v");

  s.begin(1);
  s.end(1);
  EXPECT_EQ(redis(s.port(), "EXISTS k"), "0");

  s.begin(2);
  EXPECT_EQ(redis(s.port(), "PING", silence), "");
  s.end(2);
  EXPECT_EQ(redis(s.port(), "PING"), "PONG");

  const auto ahead = [&] {
    return std::stoll(redis(s.port(), "TIME")) - wall_time_ns() / 1'000'000'000;
  };
  EXPECT_NEAR(static_cast<double>(ahead()), 0, 60);
  s.begin(3);
  EXPECT_NEAR(static_cast<double>(ahead()), -3600, 60);
  EXPECT_EQ(redis(s.port(), "SET k v PX 100"), "OK");
  s.end_all();
  EXPECT_NEAR(static_cast<double>(ahead()), 0, 60);
  EXPECT_EQ(redis(s.port(), "EXISTS k"), "0") << "a lease that ended an hour ago";
}

// The links of its clients; the server itself is healthy.
TEST(local_injector, cuts_stalls_and_delays_the_links_to_a_server) {
  suffering s(
      "redis",
      {plan_of({{"do", "cut"}, {"who", "master"}, {"at", "0s"}, {"for", "1s"}}),
       plan_of({{"do", "stall"}, {"who", "servers"}, {"at", "0s"}, {"for", "1s"}}),
       plan_of(
           {{"do", "delay"}, {"who", "server 1"}, {"at", "0s"}, {"for", "1s"}, {"by", "200ms"}})});
  ASSERT_NE(s.client_port(), s.port());
  EXPECT_EQ(redis(s.client_port(), "PING"), "PONG");
  s.begin(0);
  EXPECT_EQ(redis(s.client_port(), "PING", silence), "");
  EXPECT_EQ(redis(s.port(), "PING"), "PONG");
  s.end(0);
  EXPECT_EQ(redis(s.client_port(), "PING"), "PONG");
  s.begin(1);
  EXPECT_EQ(redis(s.client_port(), "PING", silence), "");
  s.end_all();
  s.begin(2);
  const real_clock clock;
  const time_point sent = clock.now();
  EXPECT_EQ(redis(s.client_port(), "PING"), "PONG");
  EXPECT_GE(clock.now() - sent, 400ms);
  s.end_all();
}

// WAIT only covers writes of its own connection, and redis-cli opens a new one for each command. A
// replica that has just joined gets the writes made meanwhile up to a second late.
bool replicas_have(const suffering& s, const std::string& key) {
  return eventually([&] {
    return redis(s.port(1), "EXISTS " + key) == "1" && redis(s.port(2), "EXISTS " + key) == "1";
  });
}

// Writes that a master acknowledged while its replication was cut are lost with it.
TEST(local_injector, cuts_replication_and_fails_over) {
  suffering s("redis-sentinel",
              {plan_of({{"do", "cut"}, {"who", "replication"}, {"at", "0s"}, {"for", "10s"}}),
               plan_of({{"do", "kill"}, {"who", "master"}, {"at", "0s"}})});
  ASSERT_EQ(local::leaders(s.servers().info()), std::vector<std::string>{"redis-1"});
  EXPECT_EQ(redis(s.port(), "SET old v"), "OK");
  ASSERT_TRUE(replicas_have(s, "old"));
  s.begin(0);
  EXPECT_EQ(redis(s.port(), "SET new v"), "OK");
  EXPECT_EQ(redis(s.port(), "WAIT 1 300"), "0");
  EXPECT_EQ(s.begin(1), "redis-1");
  const auto another_leads = [&] {
    const auto now = local::leaders(s.servers().info());
    return !now.empty() && now[0] != "redis-1" && now[0].starts_with("redis-");
  };
  ASSERT_TRUE(eventually(another_leads));
  const std::string master = local::leaders(s.servers().info())[0];
  const int port = s.port(master == "redis-2" ? 1 : 2);
  EXPECT_TRUE(eventually([&] { return redis(port, "SET x v") == "OK"; }));
  EXPECT_EQ(redis(port, "EXISTS old"), "1");
  EXPECT_EQ(redis(port, "EXISTS new"), "0");
  s.end_all();
  EXPECT_TRUE(eventually([&] { return redis(port, "WAIT 2 500") == "2"; }));
}

TEST(local_injector, pauses_one_follower_of_an_ensemble) {
  suffering s("zookeeper-3",
              {plan_of({{"do", "pause"}, {"who", "replica"}, {"at", "0s"}, {"for", "1s"}})});
  const auto before = local::followers(s.servers().info());
  ASSERT_EQ(before.size(), 2U);
  EXPECT_EQ(s.begin(), before[0]);
  // Who is paused does not say what it is.
  EXPECT_EQ(local::followers(s.servers().info()), std::vector<std::string>{before[1]});
  EXPECT_EQ(local::leaders(s.servers().info()).size(), 1U);
  s.end();
  EXPECT_TRUE(eventually([&] { return local::followers(s.servers().info()) == before; }));
}

TEST(local_injector, kills_the_leader_of_an_ensemble) {
  suffering s("zookeeper-3",
              {plan_of({{"do", "kill"}, {"who", "leader"}, {"at", "0s"}, {"for", "1s"}})});
  const auto before = local::leaders(s.servers().info());
  ASSERT_EQ(before.size(), 1U);
  EXPECT_EQ(s.begin(), before[0]);
  EXPECT_TRUE(eventually([&] {
    const auto now = local::leaders(s.servers().info());
    return now.size() == 1 && now != before;
  }));
  s.end();
  EXPECT_TRUE(eventually([&] { return local::followers(s.servers().info()).size() == 2; }));
  EXPECT_THAT(s.refusal_of(plan_of({{"do", "fail_over"}, {"who", "master"}, {"at", "0s"}})),
              HasSubstr("whose servers elect a leader themselves: kill the leader"));
}

// An instantaneous fault without an end; the old master stays on as a replica.
TEST(local_injector, fails_over_to_a_replica) {
  suffering s("redis-sentinel", {plan_of({{"do", "fail_over"}, {"who", "master"}, {"at", "0s"}})});
  ASSERT_EQ(redis(s.port(), "SET k v"), "OK");
  ASSERT_TRUE(replicas_have(s, "k"));
  const std::string whom = s.begin();
  EXPECT_THAT(whom, testing::StartsWith("redis-1 by redis-"));
  const auto now = local::leaders(s.servers().info());
  ASSERT_EQ(now.size(), 1U);
  EXPECT_TRUE(whom.ends_with(now[0])) << whom << ", and " << now[0] << " leads";
  EXPECT_EQ(redis(s.port(now[0] == "redis-2" ? 1 : 2), "GET k"), "v");
  s.end_all();
  EXPECT_TRUE(eventually([&] { return redis(s.port(), "ROLE").starts_with("slave"); }));
}

// The pause comes last: one as long as the nodes' timeout promotes a replica.
TEST(local_injector, finds_the_master_of_a_key_in_a_cluster) {
  suffering s("redis-cluster",
              {plan_of({{"do", "cut"}, {"who", "replication"}, {"at", "0s"}, {"for", "1s"}}),
               plan_of({{"do", "pause"}, {"who", "master"}, {"at", "0s"}, {"for", "1s"}})});
  std::size_t master = 0;
  while (master < 3 && redis(s.port(master), "SET lockmark:test:k0 v") != "OK") ++master;
  ASSERT_LT(master, 3U) << "no master of the key";
  s.begin(0);
  EXPECT_EQ(redis(s.port(master), "WAIT 1 300"), "0");
  s.end(0);
  EXPECT_TRUE(eventually([&] { return redis(s.port(master), "WAIT 1 500") == "1"; }));
  EXPECT_THAT(s.begin(1), testing::EndsWith(fmt::format("-{}", master + 1)));
  EXPECT_EQ(redis(s.port(master), "PING", silence), "");
  s.end_all();
}

TEST(local_injector, cuts_the_replication_of_mariadb) {
  suffering s("mysql-replicated",
              {plan_of({{"do", "cut"}, {"who", "replication"}, {"at", "0s"}, {"for", "1s"}}),
               plan_of({{"do", "cut"}, {"who", "link 2 1"}, {"at", "0s"}, {"for", "1s"}})});
  EXPECT_EQ(local::leaders(s.servers().info()), std::vector<std::string>{"mariadb-1"});
  EXPECT_EQ(local::followers(s.servers().info()).size(), 2U);
  const auto running = [&] {
    return local::run_shell(
               fmt::format("cd {} && mariadb --no-defaults --user=root "
                           "--socket=mariadb-2/data/mariadb.sock --execute='SHOW SLAVE STATUS\\G'",
                           s.servers().directory()),
               5s)
        .output;
  };
  EXPECT_THAT(running(), HasSubstr("Slave_IO_Running: Yes"));
  s.begin();
  EXPECT_THAT(running(), HasSubstr("Slave_IO_Running: No"));
  s.end();
  EXPECT_TRUE(
      eventually([&] { return running().find("Slave_IO_Running: Yes") != std::string::npos; }));
  s.begin(1);
  EXPECT_TRUE(eventually(
      [&] { return running().find("Slave_IO_Running: Connecting") != std::string::npos; }));
  s.end(1);
  EXPECT_TRUE(
      eventually([&] { return running().find("Slave_IO_Running: Yes") != std::string::npos; }));
}

class commands : public testing::Test {
 protected:
  // The refusal of a fault on a server that lockmark did not start.
  static std::string refusal_of(const fault_plan& plan, std::uint32_t participants = 0,
                                const std::string& url = "redis://127.0.0.1:1") {
    local_injector::environment where;
    where.url = url;
    where.participants = participants;
    where.program = LOCKMARK_BINARY;
    try {
      local_injector injector(std::move(where), {plan});
    } catch (const usage_error& e) {
      return e.what();
    }
    return "";
  }
  static std::string run(const fault_plan& plan, bool undo) {
    local_injector::environment where;
    where.url = "redis://127.0.0.1:1";
    local_injector injector(std::move(where), {plan});
    const real_clock clock;
    loop l{clock};
    std::string failure;
    run_to_end(l, play(l, injector, plan, undo, failure));
    return failure;
  }
  static task<void> play(loop& l, local_injector& injector, const fault_plan& plan, bool undo,
                         std::string& failure) {
    try {
      task<faults::active_fault> starting = injector.begin(l, plan);
      const faults::active_fault hit = co_await std::move(starting);
      if (undo) {
        task<void> healing = injector.end(l, plan, hit);
        co_await std::move(healing);
      }
    } catch (const std::exception& e) {
      failure = e.what();
    }
  }
};

TEST_F(commands, of_the_user_are_run_and_undone) {
  const std::string file = testing::TempDir() + fmt::format("lockmark-fault-{}", getpid());
  const fault_plan plan = plan_of({{"do", "run"},
                                   {"at", "0s"},
                                   {"for", "1s"},
                                   {"command", fmt::format("echo down > {}", file)},
                                   {"undo", fmt::format("echo up >> {}", file)}});
  EXPECT_EQ(run(plan, true), "");
  EXPECT_EQ(local::run_shell(fmt::format("cat {0}; rm {0}", file), 5s).output, "down\nup");
}

TEST_F(commands, that_fail_say_so_without_a_password) {
  const fault_plan plan =
      plan_of({{"do", "run"},
               {"at", "0s"},
               {"command", "echo cannot reach redis://me:hunter2@h; echo sorry; exit 3"}});
  EXPECT_EQ(run(plan, false),
            "the command 'echo ***' ended with exit status 3: *** *** ***://me:***@h ***");
}

// On servers started by others only links can be faulted, and nothing else.
TEST_F(commands, are_what_is_left_for_servers_of_others) {
  const std::pair<std::map<std::string, std::string>, const char*> cases[] = {
      {{{"do", "kill"}, {"who", "master"}, {"at", "0s"}}, "servers that lockmark starts itself"},
      {{{"do", "jump_clock"}, {"who", "servers"}, {"at", "0s"}, {"by", "1s"}}, "starts itself"},
      {{{"do", "cut"}, {"who", "master"}, {"at", "0s"}, {"for", "1s"}},
       "who is master is known of local servers only; here are 127.0.0.1:1"},
      {{{"do", "cut"}, {"who", "server 2"}, {"at", "0s"}, {"for", "1s"}},
       "there is no server 2; there are 127.0.0.1:1"},
      {{{"do", "pause"}, {"who", "holder"}, {"at", "0s"}, {"for", "1s"}},
       "needs participants that are processes"},
      {{{"do", "cut"}, {"who", "servers"}, {"with", "holder"}, {"at", "0s"}, {"for", "1s"}},
       "needs participants that are processes"},
      {{{"do", "cut"}, {"who", "link 1 2"}, {"at", "0s"}, {"for", "1s"}}, "starts itself"},
  };
  for (const auto& [keys, sentence] : cases) {
    EXPECT_THAT(refusal_of(plan_of(keys)), HasSubstr(sentence));
  }
  EXPECT_EQ(refusal_of(plan_of({{"do", "cut"}, {"who", "server 1"}, {"at", "0s"}, {"for", "1s"}})),
            "");
  EXPECT_THAT(refusal_of(plan_of({{"do", "kill"}, {"who", "participant 3"}, {"at", "0s"}}), 2),
              HasSubstr("there is no participant 3"));
  EXPECT_THAT(refusal_of(plan_of({{"do", "kill"}, {"who", "holder"}, {"on", "SET"}}), 2,
                         "rediss://127.0.0.1:1"),
              HasSubstr("behind TLS"));
  EXPECT_THAT(refusal_of(plan_of({{"do", "cut"}, {"who", "servers"}, {"at", "0s"}, {"for", "1s"}}),
                         0, "memory:"),
              HasSubstr("reached by network"));
}

// Participants that only record calls. The second one holds a key when told to.
class pretenders final : public faults::participant_control {
 public:
  std::uint32_t count() const override { return 2; }
  bool lives(std::uint32_t) const override { return true; }
  std::int64_t holding(std::uint32_t which) const override { return which == 1 && held ? 1 : 0; }
  time_point kill(std::uint32_t which) override { return note("kill", which); }
  time_point pause(std::uint32_t which) override { return note("pause", which); }
  void resume(std::uint32_t which) override { note("resume", which); }
  std::atomic<bool> held{true};
  std::vector<std::string> notes;

 private:
  time_point note(const char* what, std::uint32_t which) {
    notes.push_back(fmt::format("{} {}", what, which));
    return real_clock{}.now();
  }
};

// A participant is caught between two steps: its answer is held back until it is paused, and only
// its own links are cut.
TEST(arena_of_participants, hits_the_one_that_sent_the_request) {
  auto servers = local::cluster::start("redis");
  const std::vector<fault_plan> plans{
      plan_of({{"do", "pause"}, {"who", "holder"}, {"on", "SETNX"}, {"for", "1s"}}),
      plan_of({{"do", "cut"}, {"who", "holder"}, {"at", "0s"}, {"for", "1s"}})};
  local_injector::environment where;
  where.own = &servers;
  where.url = servers.target();
  where.participants = 2;
  where.program = LOCKMARK_BINARY;
  local_injector injector(std::move(where), plans);
  pretenders control;
  injector.bind(&control);
  const int first = config::parse_target(injector.url_of(0))->hosts.at(0).port;
  const int second = config::parse_target(injector.url_of(1))->hosts.at(0).port;
  ASSERT_NE(first, second);

  const real_clock clock;
  loop l{clock};
  std::thread client([&] {
    EXPECT_TRUE(eventually([&] { return redis(servers.servers()[0].port, "EXISTS go") == "1"; }));
    EXPECT_EQ(redis(first, "SETNX k v"), "1") << "while the other one holds: nobody is hit";
    control.held = false;
    EXPECT_EQ(redis(first, "SETNX k2 v"), "1");
  });
  struct story {
    static task<void> play(loop& on, local_injector& at, fault_plan plan, int port) {
      scope helpers{on};
      helpers.spawn(let_go(on, port));
      task<bool> answer = at.awaited(on, plan, on.now() + 10s);
      const bool came = co_await std::move(answer);
      EXPECT_TRUE(came);
      EXPECT_EQ(redis(port, "EXISTS k2"), "1") << "the server has done what was asked";
      task<faults::active_fault> starting = at.begin(on, plan);
      const faults::active_fault hit = co_await std::move(starting);
      EXPECT_EQ(hit.whom, "participant 1");
      task<void> healing = at.end(on, plan, hit);
      co_await std::move(healing);
      co_await helpers.join();
    }
    static task<void> let_go(loop& on, int port) {
      co_await on.sleep_for(100ms);  // by then the proxies know the awaited request
      redis(port, "SET go 1");
    }
  };
  run_to_end(l, story::play(l, injector, plans[0], servers.servers()[0].port));
  client.join();
  EXPECT_THAT(control.notes, testing::ElementsAre("pause 0", "resume 0"));
  control.held = true;

  struct cutting {
    static task<void> play(loop& on, local_injector& at, fault_plan plan, int own, int other) {
      task<faults::active_fault> starting = at.begin(on, plan);
      const faults::active_fault hit = co_await std::move(starting);
      EXPECT_EQ(hit.whom, "participant 2");
      EXPECT_EQ(redis(own, "PING", silence), "");
      EXPECT_EQ(redis(other, "PING"), "PONG");
      task<void> healing = at.end_all(on);
      co_await std::move(healing);
      EXPECT_EQ(redis(own, "PING"), "PONG");
    }
  };
  run_to_end(l, cutting::play(l, injector, plans[1], second, first));
}

}  // namespace
}  // namespace lockmark::inject
