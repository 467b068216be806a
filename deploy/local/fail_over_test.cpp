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
  EXPECT_TRUE(can_fail_over("postgres-replicated"));
  for (const char* other :
       {"redis", "zookeeper-3", "etcd-3", "mysql", "mysql-galera", "redis-independent",
        "redis-clusters", "postgres", "postgres-pgbouncer"}) {
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

// The primary shuts down, a standby takes over with all that it wrote, and the other one follows
// without being told.
TEST(fail_over, of_postgres_that_lives) {
  auto servers = cluster::start("postgres-replicated");
  const server_info primary = named(servers, "postgres-1");
  ASSERT_FALSE(ask_postgres(servers.info(), primary, "CREATE TABLE told (n integer);").empty());
  const promotion done = fail_over(servers.info(), key);
  EXPECT_EQ(done.from, "postgres-1");
  EXPECT_EQ(leaders(servers.info()), std::vector<std::string>{done.to});
  EXPECT_EQ(followers(servers.info()).size(), 1U);
  // Acknowledged once the other standby has it.
  EXPECT_EQ(ask_postgres(servers.info(), named(servers, done.to),
                         "INSERT INTO told VALUES (7); SELECT n FROM told;"),
            "7\n");
  const server_info other = named(servers, followers(servers.info()).at(0));
  EXPECT_TRUE(eventually(
      [&] { return ask_postgres(servers.info(), other, "SELECT n FROM told;") == "7\n"; }));

  servers.kill(done.to, SIGKILL);
  const promotion after_death = fail_over(servers.info(), key);
  EXPECT_THAT(after_death.from, IsEmpty());
  EXPECT_EQ(leaders(servers.info()), std::vector<std::string>{other.name});
}

// What the primary writes while its standbys cannot hear it is acknowledged to nobody.
TEST(fail_over, standbys_of_postgres_can_be_cut_off) {
  const auto servers = cluster::start("postgres-replicated");
  const server_info primary = named(servers, "postgres-1");
  cut_replication(servers.info());
  const std::string count = "SELECT count(*) FROM pg_stat_replication;";
  EXPECT_TRUE(eventually([&] { return ask_postgres(servers.info(), primary, count) == "0\n"; }));
  const std::string in_vain = "SET statement_timeout = 300; CREATE TABLE told (n integer);";
  ask_postgres(servers.info(), primary, in_vain);
  mend_replication(servers.info());
  EXPECT_TRUE(eventually([&] { return ask_postgres(servers.info(), primary, count) == "2\n"; }));
}

}  // namespace
}  // namespace lockmark::local
