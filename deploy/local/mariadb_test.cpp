// The topologies of several MariaDB servers, verified with the client program.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>

#include "deploy/local/cluster.hpp"
#include "deploy/local/test_support.hpp"

namespace lockmark::local {
namespace {

// `server`'s answer to root: columns separated by tabs, rows ended by newlines.
std::string ask(const cluster& in, std::string_view server, std::string_view sql) {
  const std::string line = fmt::format(
      "cd '{}' && mariadb --no-defaults --user=root --socket={}/data/mariadb.sock --silent "
      "--skip-column-names --execute=\"{}\" 2>&1",
      in.directory(), server, sql);
  std::string said;
  FILE* const out = popen(line.c_str(), "r");
  char bytes[512];
  while (const std::size_t n = fread(bytes, 1, sizeof bytes, out)) said.append(bytes, n);
  pclose(out);
  return said;
}

// All local servers accept two thousand connections, and have the descriptors for them.
void expect_room(const cluster& in) {
  for (const server_info& server : in.servers()) {
    EXPECT_EQ(ask(in, server.name, "SELECT @@max_connections, @@open_files_limit > 4000"),
              "2000\t1\n")
        << server.name;
  }
}

// The master accepts writes and waits for a replica, which gets the row and is itself read-only.
TEST(mysql_replicated, replicates_and_protects_its_replicas) {
  const cluster running = cluster::start("mysql-replicated");
  ASSERT_EQ(running.servers().size(), 3U);
  expect_room(running);
  EXPECT_EQ(ask(running, "mariadb-1", "SELECT @@read_only, @@rpl_semi_sync_master_enabled"),
            "0\t1\n");
  EXPECT_EQ(ask(running, "mariadb-1",
                "CREATE TABLE lockmark.t (a INT PRIMARY KEY); INSERT INTO lockmark.t VALUES (7)"),
            "");
  EXPECT_EQ(ask(running, "mariadb-1", "SHOW STATUS LIKE 'Rpl_semi_sync_master_no_tx'"),
            "Rpl_semi_sync_master_no_tx\t0\n");
  for (const char* replica : {"mariadb-2", "mariadb-3"}) {
    EXPECT_EQ(ask(running, replica, "SELECT @@read_only"), "1\n");
    EXPECT_TRUE(
        eventually([&] { return ask(running, replica, "SELECT a FROM lockmark.t") == "7\n"; }));
  }
}

// A killed replica resumes replication when it is back.
TEST(mysql_replicated, a_replica_comes_back) {
  cluster running = cluster::start("mysql-replicated");
  running.kill("mariadb-2", SIGKILL);
  ask(running, "mariadb-1",
      "CREATE TABLE lockmark.t (a INT PRIMARY KEY); INSERT INTO lockmark.t VALUES (7)");
  running.restart("mariadb-2");
  EXPECT_TRUE(
      eventually([&] { return ask(running, "mariadb-2", "SELECT a FROM lockmark.t") == "7\n"; }));
  EXPECT_EQ(ask(running, "mariadb-2", "SELECT @@read_only"), "1\n");
}

constexpr const char* cluster_size = "SHOW STATUS LIKE 'wsrep_cluster_size'";

// Three nodes are one cluster: a write to one is in all. A killed node, here the one that founded
// the cluster, comes back with the writes that it missed.
TEST(mysql_galera, is_one_cluster_and_a_node_rejoins) {
  cluster running = cluster::start("mysql-galera");
  ASSERT_EQ(running.servers().size(), 3U);
  expect_room(running);
  for (const server_info& node : running.servers()) {
    EXPECT_EQ(ask(running, node.name, cluster_size), "wsrep_cluster_size\t3\n");
  }
  EXPECT_EQ(ask(running, "mariadb-2",
                "CREATE TABLE lockmark.t (a INT PRIMARY KEY); INSERT INTO lockmark.t VALUES (7)"),
            "");
  EXPECT_EQ(ask(running, "mariadb-3", "SET wsrep_sync_wait=1; SELECT a FROM lockmark.t"), "7\n");

  running.kill("mariadb-1", SIGKILL);
  EXPECT_EQ(ask(running, "mariadb-2", "INSERT INTO lockmark.t VALUES (8)"), "");
  running.restart("mariadb-1");
  EXPECT_EQ(ask(running, "mariadb-1", cluster_size), "wsrep_cluster_size\t3\n");
  EXPECT_EQ(ask(running, "mariadb-1", "SET wsrep_sync_wait=1; SELECT MAX(a) FROM lockmark.t"),
            "8\n");
}

// Over TCP, no login without TLS.
TEST(mysql_tls, refuses_plain_connections) {
  const cluster running = cluster::start("mysql-tls");
  EXPECT_EQ(ask(running, "mariadb", "SELECT @@have_ssl, @@require_secure_transport"), "YES\t1\n");
  EXPECT_NE(running.target().find("?tls=yes&ca=/"), std::string::npos);
}

}  // namespace
}  // namespace lockmark::local
