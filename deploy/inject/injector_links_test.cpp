// Servers parted from each other, by their own reports.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "deploy/inject/injector_fixture.hpp"
#include "deploy/local/roles.hpp"
#include "deploy/local/shell.hpp"

namespace lockmark::inject {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// The others elect another leader, and the one cut off serves nobody, neither its clients nor
// direct connections: it has lost its quorum.
TEST(local_injector, parts_the_leader_from_its_ensemble) {
  suffering s("zookeeper-3",
              {plan_of({{"do", "cut"}, {"who", "leader"}, {"at", "0s"}, {"for", "1s"}})});
  const auto before = local::leaders(s.servers().info());
  ASSERT_EQ(before.size(), 1U);
  ASSERT_EQ(s.begin(), before[0]);
  const auto number = static_cast<std::size_t>(before[0].back() - '1');
  EXPECT_EQ(zookeeper(s.client_port(number), "ruok", silence), "");
  // A server that looks for a new leader drops its connections.
  EXPECT_TRUE(
      eventually([&] { return zookeeper(s.client_port((number + 1) % 3), "ruok") == "imok"; }));
  const auto parted = [&] {
    const auto now = local::leaders(s.servers().info());
    return now.size() == 1 && now != before && local::followers(s.servers().info()).size() == 1;
  };
  // A failed election is restarted after initLimit, 10 s.
  ASSERT_TRUE(eventually(parted, 30s));
  EXPECT_TRUE(eventually([&] {
    return zookeeper(s.port(number), "srvr").find("not currently serving") != std::string::npos;
  }));
  EXPECT_TRUE(parted());
  s.end();
  EXPECT_TRUE(eventually([&] { return local::followers(s.servers().info()).size() == 2; }, 30s));
  EXPECT_THAT(zookeeper(s.client_port(number), "srvr"), HasSubstr("Mode: "));
}

// A server other than the one dialled answers; if that one is down, the connection is refused.
TEST(link_shim, goes_another_way_to_who_is_there) {
  suffering s("redis-independent", {});
  const auto ask = [&s](int dialled) {
    const auto said = local::run_shell(
        fmt::format("LD_PRELOAD={} LOCKMARK_WAYS='1>2,{}>{}' timeout 20 redis-cli -p {} "
                    "CONFIG GET port 2>&1",
                    link_shim_path(), dialled, s.port(1), dialled),
        30s);
    return said.output;
  };
  EXPECT_THAT(ask(s.port(0)), HasSubstr(fmt::format("{}", s.port(1))));
  s.servers().kill("redis-1", SIGKILL);
  EXPECT_THAT(ask(s.port(0)), HasSubstr("Connection refused"));
}

// One of three links is cut: a follower that cannot reach its leader drops out, although it reaches
// the other follower; the other two stay.
TEST(local_injector, cuts_one_link_of_an_ensemble) {
  const auto link = [](const std::string& who) {
    return plan_of({{"do", "cut"}, {"who", who}, {"at", "0s"}, {"for", "1s"}});
  };
  suffering s("zookeeper-3",
              {link("link 1 2"), link("link 1 zookeeper-3"), link("link zookeeper-3 2")});
  const auto leader = local::leaders(s.servers().info());
  ASSERT_EQ(leader.size(), 1U);
  const std::size_t cut = leader[0] == "zookeeper-2" ? 2 : 1;
  EXPECT_THAT(s.begin(cut), HasSubstr(leader[0]));
  const std::vector<std::string> other{cut == 2 ? "zookeeper-1" : "zookeeper-2"};
  EXPECT_TRUE(eventually([&] { return local::followers(s.servers().info()) == other; }));
  EXPECT_EQ(local::leaders(s.servers().info()), leader);
  s.end(cut);
  EXPECT_TRUE(eventually([&] { return local::followers(s.servers().info()).size() == 2; }));
}

// Redis announces real addresses to its sentinels and replicas; the proxy is still in between.
TEST(local_injector, cuts_the_link_of_one_replica) {
  suffering s("redis-sentinel",
              {plan_of({{"do", "cut"}, {"who", "link 1 redis-2"}, {"at", "0s"}, {"for", "1s"}})});
  const auto link_of = [&s](std::size_t n) { return redis(s.port(n), "INFO replication"); };
  const auto is_up = [&](std::size_t n) {
    return eventually(
        [&] { return link_of(n).find("master_link_status:up") != std::string::npos; });
  };
  ASSERT_TRUE(is_up(1));
  EXPECT_EQ(s.begin(), "redis-1, redis-2");
  EXPECT_TRUE(
      eventually([&] { return link_of(1).find("master_link_status:down") != std::string::npos; }));
  EXPECT_TRUE(is_up(2));
  s.end();
  EXPECT_TRUE(is_up(1));
}

// The same for the nodes of a cluster. One of three candidates is the first node's replica.
TEST(local_injector, cuts_the_link_of_one_node) {
  const auto link_to = [](int node) {
    return plan_of(
        {{"do", "cut"}, {"who", fmt::format("link 1 {}", node)}, {"at", "0s"}, {"for", "1s"}});
  };
  suffering s("redis-cluster", {link_to(4), link_to(5), link_to(6)});
  const auto says = [&s](std::size_t n, const std::string& what) {
    return redis(s.port(n), "INFO replication").find(what) != std::string::npos;
  };
  std::size_t replica = 3;
  while (replica < 5 && !says(replica, fmt::format("master_port:{}", s.port(0)))) ++replica;
  ASSERT_TRUE(eventually([&] { return says(replica, "master_link_status:up"); }));
  s.begin(replica - 3);
  EXPECT_TRUE(eventually([&] { return says(replica, "master_link_status:down"); }));
  s.end(replica - 3);
  EXPECT_TRUE(eventually([&] { return says(replica, "master_link_status:up"); }));
}

}  // namespace
}  // namespace lockmark::inject
