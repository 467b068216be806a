// Plans as data: what would be written and run, without running it.
#include "deploy/local/topology.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "deploy/local/error.hpp"

namespace lockmark::local {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string pretend_program(std::string_view name, std::string_view) {
  return fmt::format("/bin/{}", name);
}
std::string pretend_file(std::string_view path, std::string_view) {
  return std::string{path};
}

plan planned(std::string_view name) {
  port_source ports{std::nullopt};
  site where{"/somewhere", ports, pretend_program, pretend_file};
  return find_topology(name).make(where);
}

// Whether `value` follows `option` among the words of a command line.
bool has_option(const std::vector<std::string>& argv, const std::string& option,
                const std::string& value) {
  const auto at = std::find(argv.begin(), argv.end(), option);
  return at != argv.end() && at + 1 != argv.end() && *(at + 1) == value;
}

// Each row has its own name, a summary, and servers whose names and ports are their own.
TEST(topologies, are_told_apart) {
  std::set<std::string> names;
  for (const topology& row : topologies()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.summary.empty());
    std::set<std::string> servers;
    std::set<int> ports;
    for (const server_spec& server : planned(row.name).servers) {
      EXPECT_TRUE(servers.insert(server.name).second);
      EXPECT_TRUE(ports.insert(server.port).second);
    }
  }
}

// A mistyped name is answered with those that exist.
TEST(topologies, lists_the_known_names) {
  try {
    find_topology("reddis");
    FAIL();
  } catch (const start_error& error) {
    EXPECT_STREQ(error.what(),
                 "there is no local topology 'reddis'; known are redis, zookeeper, mysql, "
                 "mysql-tls, mysql-replicated, mysql-galera");
  }
}

// Redis listens on loopback only and never forks to write a snapshot.
TEST(redis_plan, neither_persists_nor_listens_abroad) {
  const plan made = planned("redis");
  const server_spec& redis = made.servers.at(0);
  EXPECT_EQ(redis.argv.at(0), "/bin/redis-server");
  EXPECT_TRUE(has_option(redis.argv, "--port", fmt::format("{}", redis.port)));
  EXPECT_TRUE(has_option(redis.argv, "--bind", "127.0.0.1"));
  EXPECT_TRUE(has_option(redis.argv, "--save", ""));
  EXPECT_TRUE(has_option(redis.argv, "--appendonly", "no"));
  EXPECT_TRUE(has_option(redis.argv, "--dir", "/somewhere/redis"));
  EXPECT_EQ(made.target, fmt::format("redis://127.0.0.1:{}", redis.port));
}

// ZooKeeper syncs, counts, and lets every client in.
TEST(zookeeper_plan, syncs_and_answers_four_letter_words) {
  const plan made = planned("zookeeper");
  const server_spec& zookeeper = made.servers.at(0);
  ASSERT_EQ(zookeeper.files.size(), 1u);
  EXPECT_EQ(zookeeper.files[0].path, "/somewhere/zookeeper/zoo.cfg");
  const std::string& text = zookeeper.files[0].text;
  EXPECT_THAT(text, HasSubstr("dataDir=/somewhere/zookeeper/data\n"));
  EXPECT_THAT(text, HasSubstr(fmt::format("clientPort={}\n", zookeeper.port)));
  for (const char* line : {"clientPortAddress=127.0.0.1", "maxClientCnxns=0", "forceSync=yes",
                           "4lw.commands.whitelist=*", "admin.enableServer=false"}) {
    EXPECT_THAT(text, HasSubstr(fmt::format("{}\n", line)));
  }
  EXPECT_EQ(zookeeper.argv.back(), "/somewhere/zookeeper/zoo.cfg");
  EXPECT_EQ(made.target, fmt::format("zookeeper://127.0.0.1:{}", zookeeper.port));
}

// MariaDB commits durably on loopback; the password is in the file of accounts and in the target,
// and on no command line, where every user of the machine could read it.
TEST(mariadb_plan, commits_durably_and_hides_its_password) {
  const plan made = planned("mysql");
  const server_spec& mariadb = made.servers.at(0);
  EXPECT_EQ(mariadb.argv.at(0), "/bin/mariadbd");
  EXPECT_EQ(mariadb.argv.at(1), "--no-defaults");
  EXPECT_THAT(mariadb.argv, Contains("--bind-address=127.0.0.1"));
  EXPECT_THAT(mariadb.argv, Contains("--innodb-flush-log-at-trx-commit=1"));
  EXPECT_THAT(mariadb.argv, Not(Contains(HasSubstr("no-sync"))));

  const std::string password = made.target.substr(std::string("mysql://lockmark:").size(), 24);
  EXPECT_EQ(made.target,
            fmt::format("mysql://lockmark:{}@127.0.0.1:{}/lockmark", password, mariadb.port));
  ASSERT_EQ(mariadb.files.size(), 1u);
  EXPECT_THAT(mariadb.files[0].text, HasSubstr(fmt::format("BY '{}'", password)));
  EXPECT_THAT(mariadb.argv, Not(Contains(HasSubstr(password))));
  for (const command& step : mariadb.prepare) {
    EXPECT_THAT(step.argv, Not(Contains(HasSubstr(password)))) << step.purpose;
  }
}

// What three servers of one cluster must agree on, and what each must have for itself.
TEST(mariadb_replicated_plan, has_one_writer) {
  const plan made = planned("mysql-replicated");
  ASSERT_EQ(made.servers.size(), 3U);
  EXPECT_THAT(made.servers[0].argv, Contains("--read-only=OFF"));
  EXPECT_THAT(made.servers[0].argv, Contains("--rpl-semi-sync-master-enabled=ON"));
  for (const std::size_t replica : {1U, 2U}) {
    EXPECT_THAT(made.servers[replica].argv, Contains("--read-only=ON"));
    EXPECT_THAT(made.servers[replica].argv, Contains("--rpl-semi-sync-slave-enabled=ON"));
    EXPECT_THAT(made.servers[replica].files.at(0).text, HasSubstr("MASTER_USE_GTID=slave_pos"));
  }
  for (const command& step : made.after_start) {
    EXPECT_THAT(step.argv, Not(Contains(HasSubstr("PASSWORD")))) << step.purpose;
  }
}

// Only the first node founds a cluster; all know all, each by ports of its own.
TEST(mariadb_galera_plan, has_one_founder) {
  const plan made = planned("mysql-galera");
  ASSERT_EQ(made.servers.size(), 3U);
  std::set<std::string> addresses;
  for (const server_spec& node : made.servers) {
    const auto option = [&](std::string_view start) {
      return *std::find_if(node.argv.begin(), node.argv.end(),
                           [&](const std::string& word) { return word.starts_with(start); });
    };
    addresses.insert(option("--wsrep-cluster-address=gcomm://127.0.0.1:"));
    EXPECT_THAT(option("--wsrep-provider-options="), HasSubstr("ist.recv_addr="));
    const bool founds = node.files.back().text.find("--wsrep-new-cluster") != std::string::npos;
    EXPECT_EQ(founds, &node == &made.servers[0]);
  }
  EXPECT_EQ(addresses.size(), 1U);
  EXPECT_THAT(made.target, HasSubstr("mysql+galera://lockmark:"));
}

}  // namespace
}  // namespace lockmark::local
