// Real servers: each topology starts, answers and leaves nothing behind.
#include "deploy/local/cluster.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <future>

#include "deploy/local/roles.hpp"
#include "deploy/local/test_support.hpp"

namespace lockmark::local {
namespace {

using namespace std::chrono_literals;
using testing::MatchesRegex;
using testing::SizeIs;

// The probe of a topology's first server.
probe probe_of(const std::string& topology) {
  port_source ports{std::nullopt};
  site where{testing::TempDir(), ports};
  return find_topology(topology).make(where).servers.at(0).ready;
}

class each_topology : public testing::TestWithParam<std::string> {};

// Every row of the table starts and answers on its reported ports.
TEST_P(each_topology, starts_and_answers) {
  const cluster running = cluster::start(GetParam());
  ASSERT_FALSE(running.servers().empty());
  for (const server_info& server : running.servers()) EXPECT_TRUE(is_running(server.pid));
  const server_info& first = running.servers().front();
  EXPECT_TRUE(answers(probe_of(GetParam()), first.port, 1s));
  const server_info& last = running.servers().back();
  EXPECT_NE(running.target().find(fmt::format("127.0.0.1:{}", last.port)), std::string::npos);
}

// After stop() no process and no directory is left, and a second stop() does nothing.
TEST_P(each_topology, leaves_nothing_after_stop) {
  cluster running = cluster::start(GetParam());
  const cluster_info before = running.info();
  EXPECT_TRUE(std::filesystem::exists(before.directory));
  running.stop();
  EXPECT_TRUE(is_gone(before));
  running.stop();
}

// The owner dies by kill -9, which nothing can prevent; the servers and the directory vanish.
TEST_P(each_topology, leaves_nothing_after_the_death_of_its_owner) {
  const orphan child = start_in_child(GetParam());
  EXPECT_TRUE(is_running(child.cluster.servers.at(0).pid));
  kill(child.owner, SIGKILL);
  waitpid(child.owner, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return is_gone(child.cluster); }));
}

// A killed keeper takes its servers with it; the next start removes the directory.
TEST_P(each_topology, leaves_no_server_after_the_death_of_its_keeper) {
  cluster running = cluster::start(GetParam());
  const cluster_info before = running.info();
  kill(before.keeper, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !is_running(before.servers.at(0).pid); }));
  running.stop();
  EXPECT_TRUE(is_gone(before));
}

// A killed keeper cannot wait for its servers, and some may survive it: stop() ends them and waits
// before it removes the directory that they write to.
TEST(cluster, ends_the_servers_that_outlive_their_keeper) {
  topology stubborn = find_topology("redis");
  stubborn.make = [make = stubborn.make](site& where) {
    plan made = make(where);
    auto& argv = made.servers.at(0).argv;
    argv.insert(argv.begin(), {"/usr/bin/setpriv", "--pdeathsig", "clear"});
    return made;
  };
  cluster running = cluster::start(stubborn);
  const cluster_info before = running.info();
  kill(before.keeper, SIGKILL);
  running.stop();
  EXPECT_TRUE(is_gone(before));
}

// The start of another cluster removes what was abandoned; stop() waits until it has.
TEST(cluster, stops_while_another_removes_its_directory) {
  const private_tmpdir unseen;  // the other is this test alone
  cluster running = cluster::start("redis");
  const cluster_info before = running.info();
  kill(before.keeper, SIGKILL);
  unique_fd other{open(before.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  ASSERT_TRUE(eventually([&] { return flock(other.get(), LOCK_EX | LOCK_NB) == 0; }));
  auto stopped = std::async(std::launch::async, [&] { running.stop(); });
  EXPECT_EQ(stopped.wait_for(300ms), std::future_status::timeout);
  EXPECT_TRUE(std::filesystem::exists(before.directory)) << "removed under the other's hands";
  other.reset();
  stopped.get();
  EXPECT_TRUE(is_gone(before));
}

INSTANTIATE_TEST_SUITE_P(table, each_topology,
                         testing::Values("redis", "redis-sentinel", "redis-cluster",
                                         "redis-independent", "redis-tls", "zookeeper", "etcd",
                                         "etcd-tls", "mysql", "postgres", "postgres-pgbouncer"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// The targets are the drivers' URLs; MariaDB's contains a fresh password.
TEST(cluster, tells_its_target_as_a_url) {
  EXPECT_THAT(cluster::start("redis").target(), MatchesRegex("redis://127.0.0.1:[0-9]+"));
  const std::string first = cluster::start("mysql").target();
  const std::string second = cluster::start("mysql").target();
  const auto url = "mysql://lockmark:[A-Za-z0-9]+@127.0.0.1:[0-9]+/lockmark";
  EXPECT_THAT(first, MatchesRegex(url));
  EXPECT_NE(first.substr(0, 41), second.substr(0, 41));
}

// The target's password and database are those of the server.
TEST(cluster, lets_the_user_of_its_target_into_mariadb) {
  const cluster running = cluster::start("mysql");
  const std::string password = running.target().substr(17, 24);
  const auto query = [&](const std::string& with) {
    return std::system(fmt::format("mariadb --no-defaults -h127.0.0.1 -P{} -ulockmark -p{} "
                                   "lockmark -e 'create table t (i int)' >/dev/null 2>&1",
                                   running.servers().at(0).port, with)
                           .c_str());
  };
  EXPECT_EQ(query(password), 0);
  EXPECT_NE(query("wrong"), 0);
}

// The destructor stops the cluster too; a moved-from cluster has nothing to stop.
TEST(cluster, leaves_nothing_after_destruction) {
  cluster_info before;
  {
    cluster running = cluster::start("redis");
    before = running.info();
    const cluster elsewhere = std::move(running);
    EXPECT_TRUE(is_running(before.servers.at(0).pid));
  }
  EXPECT_TRUE(is_gone(before));
}

// Ctrl-C in a terminal reaches the whole foreground group: the owner dies, and the keeper, not the
// signal, stops the servers.
TEST(cluster, leaves_nothing_after_ctrl_c) {
  const orphan child = start_in_child("redis");
  kill(-child.owner, SIGINT);
  waitpid(child.owner, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return is_gone(child.cluster); }));
}

// Servers compete with their clients for the processor as one session, but get no Ctrl-C.
TEST(cluster, stays_in_the_session_of_its_owner) {
  const cluster running = cluster::start("redis");
  const cluster_info info = running.info();
  EXPECT_EQ(getsid(info.keeper), getsid(0));
  EXPECT_EQ(getsid(info.servers.at(0).pid), getsid(0));
  EXPECT_NE(getpgid(info.keeper), getpgid(0));
  EXPECT_NE(getpgid(info.servers.at(0).pid), getpgid(info.keeper));
}

// Two clusters of one process do not keep each other alive.
TEST(cluster, stops_alone_beside_another) {
  cluster first = cluster::start("redis");
  const cluster second = cluster::start("redis");
  const cluster_info before = first.info();
  first.stop();
  EXPECT_TRUE(is_gone(before));
  EXPECT_TRUE(answers(redis_probe(), second.servers().at(0).port, 1s));
}

// A fixed port is used as given.
TEST(cluster, listens_where_it_is_told) {
  const int port = port_source{std::nullopt}.take("redis");
  EXPECT_EQ(cluster::start("redis", {.port = port}).servers().at(0).port, port);
}

// Faults: a killed server is gone at once and comes back on its port; a stopped one is silent.
TEST(cluster, kills_stops_and_restarts_a_server) {
  cluster running = cluster::start("redis");
  const server_info before = running.servers().at(0);
  running.kill("redis", SIGSTOP);
  EXPECT_FALSE(answers(redis_probe(), before.port, 100ms));
  running.kill("redis", SIGCONT);
  EXPECT_TRUE(answers(redis_probe(), before.port, 1s));
  running.kill("redis", SIGKILL);
  EXPECT_EQ(running.servers().at(0).pid, 0);
  EXPECT_FALSE(is_running(before.pid));
  running.restart("redis");
  EXPECT_EQ(running.servers().at(0).port, before.port);
  EXPECT_TRUE(answers(redis_probe(), before.port, 1s));
  EXPECT_THROW(running.kill("mongo", SIGKILL), start_error);
}

probe says(const std::string& question, verdict (*judge)(std::string_view)) {
  return {fmt::format("{}\r\n", question), judge};
}

// On a busy machine an election can fail; Sentinel holds the next one ten seconds later.
constexpr auto for_a_failover = 60s;

bool follow_one_leader(const cluster& running) {
  const probe linked = says("INFO replication", [](std::string_view text) {
    return text.find("master_link_status:up") != text.npos ? verdict::ready : verdict::more;
  });
  const cluster_info now = running.info();
  const std::vector<std::string> replicas = followers(now);
  return leaders(now).size() == 1 && replicas.size() == 2 &&
         std::ranges::all_of(now.servers, [&](const server_info& server) {
           return std::ranges::find(replicas, server.name) == replicas.end() ||
                  answers(linked, server.port, 1s);
         });
}

// The master dies and comes back as a replica once the sentinels agree on another. Not sooner: they
// give up a failover whose new master stands still for five seconds, as it does while a busy disk
// takes its file, and the old one leads on. What must be there again is a set of three, two of
// which follow the third.
TEST(cluster, brings_a_master_back_under_sentinel) {
  cluster running = cluster::start("redis-sentinel");
  running.kill("redis-1", SIGKILL);
  EXPECT_TRUE(eventually(
      [&] {
        const std::vector<std::string> now = leaders(running.info());
        return !now.empty() && now.front() != "redis-1";
      },
      for_a_failover));
  running.restart("redis-1");
  EXPECT_TRUE(eventually([&] { return follow_one_leader(running); }, for_a_failover));
}

// A cluster that has lost a master is complete again, with as many servers, after its restart.
TEST(cluster, brings_a_master_back_into_a_redis_cluster) {
  cluster running = cluster::start("redis-cluster");
  const probe failed = says("CLUSTER NODES", [](std::string_view text) {
    return text.find("fail ") != text.npos ? verdict::ready : verdict::more;
  });
  const probe whole = says("CLUSTER INFO", [](std::string_view text) {
    return text.find("cluster_state:ok") != text.npos ? verdict::ready : verdict::more;
  });
  running.kill("redis-1", SIGKILL);
  EXPECT_TRUE(eventually([&] { return answers(failed, running.servers().at(1).port, 1s); },
                         for_a_failover));
  EXPECT_TRUE(
      eventually([&] { return answers(whole, running.servers().at(1).port, 1s); }, for_a_failover));
  running.restart("redis-1");
  for (const server_info& node : running.servers()) EXPECT_TRUE(answers(whole, node.port, 1s));
}

// A stopped server cannot obey SIGTERM, and must not outlive its cluster because of that.
TEST(cluster, stops_a_server_that_stands_still) {
  cluster running = cluster::start("redis");
  const cluster_info before = running.info();
  running.kill("redis", SIGSTOP);
  running.stop();
  EXPECT_TRUE(is_gone(before));
}

}  // namespace
}  // namespace lockmark::local
