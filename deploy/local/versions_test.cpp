// Names with versions, and where their programs are found.
#include "deploy/local/versions.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "deploy/local/error.hpp"
#include "deploy/local/settings.hpp"

namespace lockmark::local {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
namespace fs = std::filesystem;

// A folder as deploy/servers leaves it, with empty programs.
class fetched_servers : public testing::Test {
 protected:
  fetched_servers() {
    std::string name = testing::TempDir() + "lockmark-servers-XXXXXX";
    own_ = mkdtemp(name.data());
  }
  ~fetched_servers() override { fs::remove_all(own_); }

  void fetch(const std::string& version, const std::vector<std::string>& programs) {
    std::ofstream(file(version + "/fetched")) << "1\n";
    for (const std::string& program : programs) {
      std::ofstream(file(version + program)).put('\n');
      fs::permissions(own_ / (version + program), fs::perms::owner_all);
    }
  }

  fs::path file(const std::string& path) const {
    const fs::path whole = own_ / path;
    fs::create_directories(whole.parent_path());
    return whole;
  }

  plan planned(std::string_view name) const {
    port_source ports{std::nullopt};
    const auto of_system = [](std::string_view program, std::string_view) {
      return fmt::format("/system/{}", program);
    };
    site where{"/somewhere", ports, of_system};
    return topology_of_version(name, own_).make(where);
  }

  std::string complaint(std::string_view name) const {
    try {
      planned(name);
    } catch (const start_error& error) {
      return error.what();
    }
    return "none";
  }

  std::string path(const std::string& of) const { return (own_ / of).string(); }

  fs::path own_;
};

// What deploy/servers can fetch is what `lockmark up` knows.
TEST(known_versions, are_those_of_the_list) {
  std::vector<std::string> names;
  for (const server_version& each : known_versions()) names.push_back(each.name());
  EXPECT_THAT(names, Contains("redis@8.0"));
  EXPECT_THAT(names, Contains("valkey@9.1"));
  EXPECT_THAT(names, Contains("mysql@9.7"));
  for (const std::string& name : names) EXPECT_EQ(name.find_first_of(" #{"), name.npos) << name;
}

// A version changes nothing of what a topology's servers are; Valkey is one of Redis's kind.
TEST(kind_of, forgets_the_version) {
  EXPECT_EQ(kind_of("redis"), "redis");
  EXPECT_EQ(kind_of("redis-cluster@8.0"), "redis-cluster");
  EXPECT_EQ(kind_of("valkey@9.1"), "redis");
  EXPECT_EQ(kind_of("valkey-sentinel@9.1"), "redis-sentinel");
  EXPECT_EQ(kind_of("zookeeper-3@3.9"), "zookeeper-3");
}

// Tests are run on other versions by the environment.
TEST(of_version_under_test, follows_the_environment) {
  unsetenv("LOCKMARK_VERSION");
  EXPECT_EQ(of_version_under_test("redis-cluster"), "redis-cluster");
  EXPECT_THAT(of_kind_under_test({"redis", "etcd"}), ElementsAre("redis", "etcd"));
  setenv("LOCKMARK_VERSION", "valkey@9.1", 1);
  EXPECT_EQ(of_version_under_test("redis-cluster"), "valkey-cluster@9.1");
  EXPECT_EQ(of_version_under_test("redis"), "valkey@9.1");
  EXPECT_THAT(of_kind_under_test({"redis", "redis-tls", "etcd"}),
              ElementsAre("redis", "redis-tls"));
  unsetenv("LOCKMARK_VERSION");
}

// The servers and their own tools are the version's; settings are those of every version.
TEST_F(fetched_servers, are_started_instead_of_the_systems) {
  fetch("redis@8.0", {"/usr/bin/redis-server", "/usr/bin/redis-cli"});
  const plan made = planned("redis-cluster@8.0");
  ASSERT_EQ(made.servers.size(), 6U);
  EXPECT_EQ(made.servers[0].argv.at(0), path("redis@8.0/usr/bin/redis-server"));
  EXPECT_THAT(made.servers[0].argv, Contains("--cluster-enabled"));
  EXPECT_EQ(made.after_start.at(0).argv.at(0), path("redis@8.0/usr/bin/redis-cli"));
  EXPECT_THAT(made.target, HasSubstr("redis+cluster://127.0.0.1:"));
  EXPECT_EQ(topology_of_version("redis-cluster@8.0", own_).name, "redis-cluster@8.0");
}

TEST_F(fetched_servers, of_valkey_have_its_programs) {
  fetch("valkey@9.1", {"/usr/bin/valkey-server", "/usr/bin/valkey-cli"});
  const plan made = planned("valkey-sentinel@9.1");
  ASSERT_EQ(made.servers.size(), 6U);
  EXPECT_EQ(made.servers[5].argv.at(0), path("valkey@9.1/usr/bin/valkey-server"));
  EXPECT_EQ(made.after_start.at(0).argv.at(0), path("valkey@9.1/usr/bin/valkey-cli"));
}

// PostgreSQL's programs lie in a folder of the version; tools of the system stay the system's.
TEST_F(fetched_servers, of_postgres_use_tools_of_the_system) {
  const std::string programs = "/usr/lib/postgresql/18/bin/";
  fetch("postgres@18", {programs + "postgres", programs + "initdb", programs + "psql"});
  const plan made = planned("postgres@18");
  EXPECT_THAT(made.servers.at(0).argv, Contains(path("postgres@18" + programs + "postgres")));
  EXPECT_THAT(made.after_start.at(0).argv, Contains(path("postgres@18" + programs + "psql")));
  EXPECT_EQ(made.after_start.at(0).argv.at(0), "/system/env");
}

TEST_F(fetched_servers, of_zookeeper_are_jars_for_the_systems_java) {
  const std::string jars = "/usr/share/java/";
  fetch("zookeeper@3.9", {jars + "zookeeper.jar", jars + "slf4j-simple.jar"});
  EXPECT_THAT(complaint("zookeeper@3.9"),
              HasSubstr("has no file /usr/share/java/zookeeper-jute.jar"));
  std::vector<std::string> needed;
  add_words(needed, "zookeeper_jars", json::object());
  for (const std::string& name : needed) {
    fetch("zookeeper@3.9", {fmt::format("{}{}.jar", jars, name)});
  }
  const server_spec one = planned("zookeeper-3@3.9").servers.at(0);
  EXPECT_EQ(one.argv.at(0), "/system/java");
  const std::string first = path("zookeeper@3.9" + jars + "zookeeper-jute.jar:");
  const std::string own = path("zookeeper@3.9" + jars + "zookeeper.jar:");
  EXPECT_THAT(one.argv, Contains(MatchesRegex(first + ".*:" + own + ".*slf4j-simple.jar")))
      << "the manifest's jars are those of the system";
}

// MySQL is no MariaDB: other programs, another way to make a data directory.
TEST_F(fetched_servers, of_mysql_have_a_plan_of_their_own) {
  fetch("mysql@9.7", {"/usr/sbin/mysqld"});
  const plan made = planned("mysql@9.7");
  const server_spec& mysql = made.servers.at(0);
  EXPECT_EQ(mysql.argv.at(0), path("mysql@9.7/usr/sbin/mysqld"));
  EXPECT_THAT(mysql.argv, Contains("--innodb-flush-log-at-trx-commit=1"));
  EXPECT_THAT(mysql.prepare.at(0).argv, Contains("--initialize-insecure"));
  EXPECT_THAT(made.target, HasSubstr("mysql://lockmark:"));
  EXPECT_EQ(complaint("mysql-galera@9.7"),
            "there is no local topology 'mysql-galera@9.7'; those of mysql@9.7 are mysql@9.7");
}

// What is wrong, what is known, and which command fetches it.
TEST_F(fetched_servers, say_what_is_missing) {
  std::string known;
  for (const server_version& each : known_versions()) {
    known += (known.empty() ? "" : ", ") + each.name();
  }
  for (const char* wrong : {"redis@7.9", "valkey@", "reddis@8.0", "redis@8.0@8.0", "@8.0"}) {
    EXPECT_EQ(complaint(wrong),
              fmt::format("there is no version '{}' of a local topology; known are {}, which "
                          "deploy/servers VERSION fetches",
                          wrong, known));
  }
  EXPECT_EQ(
      complaint("redis-cluster@8.0"),
      fmt::format("redis@8.0 is not in {}: deploy/servers redis@8.0 fetches it", own_.string()));
  fetch("redis@8.0", {});
  EXPECT_EQ(complaint("valkey-cloister@9.1"),
            "there is no local topology 'valkey-cloister@9.1'; those of valkey@9.1 are valkey@9.1, "
            "valkey-sentinel@9.1, valkey-cluster@9.1, valkey-clusters@9.1, "
            "valkey-independent@9.1, valkey-tls@9.1");
  EXPECT_EQ(complaint("redis@8.0"),
            "redis@8.0 has no program redis-server; remove its folder, and let deploy/servers "
            "redis@8.0 fetch it again");
  fetch("zookeeper@3.9", {});
  EXPECT_EQ(complaint("zookeeper@3.9"),
            "zookeeper@3.9 has no file /usr/share/java/zookeeper.jar; remove its folder, and let "
            "deploy/servers zookeeper@3.9 fetch it again");
}

}  // namespace
}  // namespace lockmark::local
