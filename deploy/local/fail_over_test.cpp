// A replica is promoted while the old master lives, and after its death; confirmed by querying the
// servers.
#include "deploy/local/fail_over.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "deploy/local/ask.hpp"
#include "deploy/local/cluster.hpp"
#include "deploy/local/roles.hpp"

namespace lockmark::local {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view key = "lockmark:test:k0";

const server_info& named(const cluster& servers, const std::string& name) {
  for (const server_info& s : servers.servers()) {
    if (s.name == name) return s;
  }
  throw start_error("no server " + name);
}

TEST(fail_over, is_not_for_every_topology) {
  EXPECT_TRUE(can_fail_over("redis-sentinel"));
  EXPECT_TRUE(can_fail_over("redis-cluster"));
  EXPECT_TRUE(can_fail_over("mysql-replicated"));
  for (const char* other : {"redis", "zookeeper-3", "mysql", "mysql-galera", "redis-independent"}) {
    EXPECT_FALSE(can_fail_over(other)) << other;
  }
}

// The replica asks the master to hand over, unless that one is dead or silent.
TEST(fail_over, of_the_master_of_a_key_in_a_cluster) {
  auto servers = cluster::start("redis-cluster");
  const std::string first = owner_of(servers.info(), key);
  const promotion planned = fail_over(servers.info(), key);
  EXPECT_EQ(planned.from, first);
  EXPECT_NE(planned.to, first);
  EXPECT_EQ(owner_of(servers.info(), key), planned.to);

  servers.kill(planned.to, SIGKILL);
  const promotion forced = fail_over(servers.info(), key);
  EXPECT_EQ(forced.from, planned.to);
  EXPECT_EQ(owner_of(servers.info(), key), forced.to);
}

// No acknowledged write of the master is lost, and it is read-only afterwards.
TEST(fail_over, of_mariadb_that_lives) {
  auto servers = cluster::start("mysql-replicated");
  const server_info master = named(servers, "mariadb-1");
  ASSERT_FALSE(
      ask_mariadb(servers.info(), master, "CREATE DATABASE told; CREATE TABLE told.rows_of (n INT)")
          .empty());
  const promotion done = fail_over(servers.info(), key);
  EXPECT_EQ(done.from, "mariadb-1");
  EXPECT_EQ(leaders(servers.info()), std::vector<std::string>{done.to});
  EXPECT_THAT(ask_mariadb(servers.info(), named(servers, done.to), "SHOW TABLES FROM told"),
              HasSubstr("rows_of"));

  servers.kill(done.to, SIGKILL);
  const promotion after_death = fail_over(servers.info(), key);
  EXPECT_THAT(after_death.from, IsEmpty());
  EXPECT_EQ(leaders(servers.info()), std::vector<std::string>{after_death.to});
}

}  // namespace
}  // namespace lockmark::local
