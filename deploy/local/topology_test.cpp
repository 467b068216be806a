// Plans as data: the files and commands, without running them.
#include "deploy/local/topology.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <set>

#include "deploy/local/error.hpp"

namespace lockmark::local {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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

// Each row has its own name, a summary, and servers with unique names and ports.
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

// In an ensemble every server reaches every other by two ports each; with a single server, or with
// independent ones, there are no ways.
TEST(topologies, say_how_servers_reach_each_other) {
  const auto ways = peer_ways(planned("zookeeper-3").servers);
  EXPECT_EQ(ways.size(), 3U * 2U * 2U);
  std::set<std::string> pairs;
  for (const peer_way& way : ways) {
    EXPECT_NE(way.from, way.to);
    EXPECT_TRUE(pairs.insert(fmt::format("{} {}", way.from, way.port)).second);
  }
  EXPECT_EQ(peer_ways(planned("mysql-replicated").servers).size(), 3U * 2U);
  EXPECT_TRUE(peer_ways(planned("zookeeper").servers).empty());
  EXPECT_TRUE(peer_ways(planned("redis-independent").servers).empty());
}

// The error for a mistyped name lists the existing ones.
TEST(topologies, lists_the_known_names) {
  try {
    find_topology("reddis");
    FAIL();
  } catch (const start_error& error) {
    std::string known;
    for (const topology& t : topologies()) known += (known.empty() ? "" : ", ") + t.name;
    EXPECT_THAT(error.what(), StartsWith("there is no local topology 'reddis'; known are " + known +
                                         "; of other versions redis@8.0, "));
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

// Three sentinels watch one master with two replicas; the target names the sentinels.
TEST(redis_plan, puts_sentinels_over_a_master_and_its_replicas) {
  const plan made = planned("redis-sentinel");
  ASSERT_EQ(made.servers.size(), 6u);
  const int master = made.servers[0].port;
  EXPECT_EQ(made.servers[0].files.at(0).text, "");
  const std::string replicaof = fmt::format("replicaof 127.0.0.1 {}\n", master);
  EXPECT_EQ(made.servers[1].files.at(0).text, replicaof);
  EXPECT_EQ(made.servers[2].files.at(0).text, replicaof);
  const std::string monitor = fmt::format("sentinel monitor lockmark 127.0.0.1 {} 2\n", master);
  for (std::size_t i = 3; i < 6; ++i) {
    EXPECT_THAT(made.servers[i].files.at(0).text, HasSubstr(monitor));
    EXPECT_THAT(made.target, HasSubstr(fmt::format("127.0.0.1:{}", made.servers[i].port)));
  }
  EXPECT_THAT(made.target, StartsWith("redis+sentinel://127.0.0.1:"));
  EXPECT_THAT(made.target, EndsWith("/lockmark"));
}

// Six nodes, each with its own cluster bus port, are joined by redis-cli.
TEST(redis_plan, joins_a_cluster_of_six) {
  const plan made = planned("redis-cluster");
  ASSERT_EQ(made.servers.size(), 6u);
  ASSERT_EQ(made.after_start.size(), 1u);
  for (const server_spec& node : made.servers) {
    EXPECT_TRUE(has_option(node.argv, "--cluster-enabled", "yes"));
    EXPECT_THAT(node.argv, Contains("--cluster-port"));
    const std::string address = fmt::format("127.0.0.1:{}", node.port);
    EXPECT_THAT(made.after_start[0].argv, Contains(address));
    EXPECT_THAT(made.target, HasSubstr(address));
  }
}

// Two Clusters, each joined by itself; a client is told one node of each.
TEST(redis_plan, joins_two_clusters_of_three) {
  const plan made = planned("redis-clusters");
  ASSERT_EQ(made.servers.size(), 6u);
  ASSERT_EQ(made.after_start.size(), 2u);
  for (std::size_t i = 0; i < made.servers.size(); ++i) {
    const std::string address = fmt::format("127.0.0.1:{}", made.servers[i].port);
    EXPECT_THAT(made.after_start[i / 3].argv, Contains(address));
    EXPECT_THAT(made.after_start[1 - i / 3].argv, Not(Contains(address)));
  }
  EXPECT_EQ(made.target, fmt::format("redis+clusters://127.0.0.1:{},127.0.0.1:{}",
                                     made.servers[0].port, made.servers[3].port));
}

// Killed before its replica has a copy, a master would have no successor.
TEST(redis_plan, waits_until_replicas_have_a_copy) {
  const probe joined = planned("redis-cluster").servers.at(0).joined;
  const auto told = [&](std::string_view role) {
    return joined.judge(
        fmt::format("$9\r\ncluster_state:ok\r\ncluster_known_nodes:6\r\n"
                    "cluster_size:3\r\n{}",
                    role));
  };
  EXPECT_EQ(told(""), verdict::more);
  EXPECT_EQ(told("role:master\r\nsecond_repl_offset:-1\r\n"), verdict::ready);
  EXPECT_EQ(told("role:slave\r\nmaster_link_status:down\r\nsecond_repl_offset:-1\r\n"),
            verdict::not_yet);
  EXPECT_EQ(told("role:slave\r\nmaster_link_status:up\r\nsecond_repl_offset:-1\r\n"),
            verdict::ready);
}

// Five servers, which are never introduced to each other.
TEST(redis_plan, names_five_independent_masters) {
  const plan made = planned("redis-independent");
  ASSERT_EQ(made.servers.size(), 5u);
  EXPECT_TRUE(made.after_start.empty());
  std::string hosts;
  for (const server_spec& s : made.servers) hosts += fmt::format(",127.0.0.1:{}", s.port);
  EXPECT_EQ(made.target, fmt::format("redis+independent://{}", hosts.substr(1)));
}

// With TLS there is no plain port, and the password is on no command line.
TEST(redis_plan, opens_nothing_but_tls) {
  const plan made = planned("redis-tls");
  const server_spec& redis = made.servers.at(0);
  EXPECT_TRUE(has_option(redis.argv, "--tls-port", fmt::format("{}", redis.port)));
  const auto last_port = std::find(redis.argv.rbegin(), redis.argv.rend(), "--port");
  ASSERT_NE(last_port, redis.argv.rend());
  EXPECT_EQ(*(last_port - 1), "0");
  const std::string password = made.target.substr(std::string("rediss://lockmark:").size(), 24);
  EXPECT_EQ(made.target, fmt::format("rediss://lockmark:{}@127.0.0.1:{}?ca=/somewhere/redis/ca.pem",
                                     password, redis.port));
  EXPECT_THAT(redis.files.at(0).text, HasSubstr(fmt::format(">{} ", password)));
  EXPECT_THAT(redis.argv, Not(Contains(HasSubstr(password))));
}

// ZooKeeper syncs, answers four-letter words, and has no client limit.
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

// All members have the same list of members and their own number; clients get the whole list.
TEST(zookeeper_plan, members_know_each_other) {
  const plan made = planned("zookeeper-3");
  ASSERT_EQ(made.servers.size(), 3u);
  const auto members_in = [](const std::string& text) {
    return text.substr(text.find("server.1"));
  };
  std::string target = "zookeeper://";
  for (std::size_t i = 0; i < 3; ++i) {
    const server_spec& one = made.servers[i];
    EXPECT_EQ(one.name, fmt::format("zookeeper-{}", i + 1));
    ASSERT_EQ(one.files.size(), 2u);
    EXPECT_THAT(one.files[0].text, HasSubstr(fmt::format("clientPort={}\n", one.port)));
    EXPECT_EQ(members_in(one.files[0].text), members_in(made.servers[0].files[0].text));
    EXPECT_EQ(one.files[1].path, fmt::format("/somewhere/{}/myid", one.name));
    EXPECT_EQ(one.files[1].text, fmt::format("{}\n", i + 1));
    target += fmt::format("{}127.0.0.1:{}", i == 0 ? "" : ",", one.port);
  }
  EXPECT_EQ(made.target, target);
}

// All members start with the same list of members; clients get the whole list.
TEST(etcd_plan, members_know_each_other) {
  const plan made = planned("etcd-3");
  ASSERT_EQ(made.servers.size(), 3u);
  std::set<std::string> lists;
  std::string target = "etcd://";
  for (std::size_t i = 0; i < 3; ++i) {
    const server_spec& one = made.servers[i];
    const std::string name = fmt::format("etcd-{}", i + 1);
    EXPECT_EQ(one.name, name);
    EXPECT_TRUE(has_option(one.argv, "--name", name));
    EXPECT_TRUE(has_option(one.argv, "--data-dir", fmt::format("/somewhere/{}/data", name)));
    const std::string own = fmt::format("http://127.0.0.1:{}", one.port);
    EXPECT_TRUE(has_option(one.argv, "--listen-client-urls", own));
    const auto list = std::ranges::find(one.argv, "--initial-cluster");
    ASSERT_NE(list, one.argv.end());
    lists.insert(*(list + 1));
    EXPECT_THAT(one.argv, Not(Contains(HasSubstr("unsafe"))));
    target += fmt::format("{}127.0.0.1:{}", i == 0 ? "" : ",", one.port);
  }
  EXPECT_EQ(lists.size(), 1U);
  EXPECT_THAT(*lists.begin(), StartsWith("etcd-1=http://127.0.0.1:"));
  EXPECT_EQ(made.target, target);
}

// With TLS there is no plain port for clients, and the password is on no command line.
TEST(etcd_plan, hides_its_password) {
  const plan made = planned("etcd-tls");
  const server_spec& one = made.servers.at(0);
  const std::string own = fmt::format("https://127.0.0.1:{}", one.port);
  EXPECT_TRUE(has_option(one.argv, "--listen-client-urls", own));
  EXPECT_TRUE(has_option(one.argv, "--cert-file", "/somewhere/etcd/server.pem"));
  const std::string password = made.target.substr(std::string("etcd://lockmark:").size(), 24);
  EXPECT_EQ(made.target,
            fmt::format("etcd://lockmark:{}@127.0.0.1:{}?tls=yes&ca=/somewhere/etcd/ca.pem",
                        password, one.port));
  EXPECT_THAT(one.files.at(0).text, HasSubstr(fmt::format("echo '{}' |", password)));
  EXPECT_THAT(made.after_start.at(0).argv, Not(Contains(HasSubstr(password))));
  EXPECT_THAT(one.argv, Not(Contains(HasSubstr(password))));
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

// Settings that three servers of a cluster must share, and those that each must have for itself.
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

// Only the first node founds a cluster; each knows all others, and has its own ports. The last one
// waits for both others: a donor that still finishes its first transfer does not survive a second.
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
  EXPECT_THAT(made.servers[2].files.back().text, HasSubstr("synced mariadb-2; synced mariadb-1;"));
  EXPECT_THAT(made.target, HasSubstr("mysql+galera://lockmark:"));
}

// PostgreSQL commits durably on loopback, by no socket file; passwords are in files and in the
// target, and on no command line.
TEST(postgres_plan, commits_durably_and_hides_its_passwords) {
  const plan made = planned("postgres");
  const server_spec& postgres = made.servers.at(0);
  EXPECT_THAT(postgres.argv, Contains(EndsWith("/bin/postgres")));
  EXPECT_THAT(postgres.argv, Contains("--listen-addresses=127.0.0.1"));
  EXPECT_THAT(postgres.argv, Contains("--unix-socket-directories="));
  EXPECT_THAT(postgres.argv, Contains("--fsync=on"));
  EXPECT_EQ(postgres.stop_signal, SIGQUIT) << "or it would wait for its clients";

  const std::string password = made.target.substr(std::string("postgres://lockmark:").size(), 24);
  EXPECT_EQ(made.target,
            fmt::format("postgres://lockmark:{}@127.0.0.1:{}/lockmark", password, postgres.port));
  std::string superuser;
  for (const text_file& f : postgres.files) {
    if (f.path.filename() == "password") superuser = f.text.substr(0, 24);
    if (f.path.filename() == "accounts.sql") {
      EXPECT_THAT(f.text, HasSubstr(fmt::format("PASSWORD '{}'", password)));
    }
  }
  EXPECT_NE(superuser, "");
  std::vector<command> all = postgres.prepare;
  all.insert(all.end(), made.after_start.begin(), made.after_start.end());
  all.push_back({"serve", postgres.argv});
  for (const command& step : all) {
    EXPECT_THAT(step.argv, Not(Contains(HasSubstr(password)))) << step.purpose;
    EXPECT_THAT(step.argv, Not(Contains(HasSubstr(superuser)))) << step.purpose;
  }
}

// It refuses to run as root: then all its programs are another user's, and die with the keeper.
TEST(postgres_plan, is_another_users_where_this_one_is_root) {
  const server_spec postgres = planned("postgres").servers.at(0);
  if (geteuid() != 0) {
    EXPECT_THAT(postgres.argv.at(0), EndsWith("/bin/postgres"));
  } else {
    EXPECT_EQ(postgres.argv.at(0), "/bin/setpriv");
    EXPECT_THAT(postgres.argv, Contains("--reuid=postgres"));
    EXPECT_THAT(postgres.argv, Contains("--pdeathsig=keep"));
  }
}

// Each standby looks for the primary among the others, and each of the three waits for one.
TEST(postgres_replicated_plan, has_standbys_that_can_take_over) {
  const plan made = planned("postgres-replicated");
  ASSERT_EQ(made.servers.size(), 3U);
  for (const server_spec& server : made.servers) {
    EXPECT_THAT(server.argv, Contains("--synchronous-standby-names=ANY 1 (*)"));
  }
  const std::string& second = made.servers[1].files.back().text;
  EXPECT_THAT(second,
              HasSubstr(fmt::format("port={},{} ", made.servers[0].port, made.servers[2].port)));
  EXPECT_THAT(second, HasSubstr("target_session_attrs=primary"));
  EXPECT_THAT(second, Not(HasSubstr("password=")));
}

// Clients are led to the pooler, which is led to the server.
TEST(postgres_pgbouncer_plan, pools_transactions) {
  const plan made = planned("postgres-pgbouncer");
  ASSERT_EQ(made.servers.size(), 2U);
  const std::string& settings = made.servers[1].files.back().text;
  EXPECT_THAT(settings, HasSubstr("pool_mode = transaction\n"));
  EXPECT_THAT(settings, HasSubstr(fmt::format("port={} ", made.servers[0].port)));
  EXPECT_THAT(settings, HasSubstr(fmt::format("listen_port = {}\n", made.servers[1].port)));
  EXPECT_THAT(made.target, EndsWith(fmt::format("127.0.0.1:{}/lockmark", made.servers[1].port)));
}

}  // namespace
}  // namespace lockmark::local
