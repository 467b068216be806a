// Runs whose MySQL server turns against them: tables dropped, rights revoked, passwords changed,
// connections killed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "deploy/local/ask.hpp"
#include "deploy/local/cluster.hpp"
#include "deploy/local/test_support.hpp"
#include "program/test_servers.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
namespace fs = std::filesystem;

// The run would last a minute and needs seconds: one that fails to end early is noticed.
constexpr duration far_from_a_minute = 30s;

// Started by the first test, stopped at the end of the program.
const local::cluster& mariadb() {
  static const auto one = local::cluster::start("mysql");
  return one;
}

std::string as_root(const std::string& sql) {
  const std::string said = local::ask_mariadb(mariadb().info(), mariadb().servers()[0], sql);
  EXPECT_NE(said, "") << sql;
  return said;
}

// A run in a database of its own, as a user of its own.
class mysql_run : public testing::Test {
 protected:
  mysql_run() {
    static int number = 0;
    name_ = fmt::format("cause{}", ++number);
    as_root(
        fmt::format("CREATE DATABASE {0}; CREATE USER '{0}'@'127.0.0.1' IDENTIFIED BY "
                    "'hunter2'; GRANT ALL ON {0}.* TO '{0}'@'127.0.0.1'",
                    name_));
  }

  // Starts the run, and returns when it has been measuring for a second.
  std::unique_ptr<program> start(const std::string& lines, const char* lasts) {
    const fs::path file = dir_ / "job.yaml";
    std::ofstream(file) << "load: {instances: 2, clients: 2}\nkeys: own\nhold: 1ms\nwait: 1s\n"
                        << "warmup: 0s\nfloor: 0s\ncommand_timeout: 500ms\nstop: {duration: "
                        << lasts << "}\n"
                        << lines;
    const std::string url =
        fmt::format("mysql://{0}:hunter2@127.0.0.1:{1}/{0}", name_, mariadb().servers()[0].port);
    auto p = std::make_unique<program>(
        lockmark({"run", file.string(), "--on", url, "--out", runs_.string()}), dir_.path());
    EXPECT_TRUE(p->says("measuring", 2)) << p->err();
    return p;
  }
  ended report() { return run(dir_.path(), {"report", only_folder(runs_).string()}); }
  nlohmann::json told() { return read_json(only_folder(runs_) / "run.json"); }
  std::vector<std::string> files() {
    std::vector<std::string> names;
    for (const auto& f : fs::directory_iterator(only_folder(runs_))) {
      names.push_back(f.path().filename());
    }
    return names;
  }

  std::vector<std::string> tables() {
    std::istringstream lines(as_root(fmt::format(
        "SELECT table_name FROM information_schema.tables WHERE table_schema='{}'", name_)));
    std::vector<std::string> all;
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) all.push_back(line);
    }
    return all;
  }
  bool is_logged_out() {
    const auto connections = [&] {
      return as_root(fmt::format(
          "SELECT COUNT(*) FROM information_schema.processlist WHERE user='{}'", name_));
    };
    return local::eventually([&] { return std::stoi(connections()) == 0; });
  }

  std::string name_;  // of the database and of its user
  scratch dir_;
  const fs::path runs_ = dir_ / "runs";
};

struct cause {
  const char* name;
  const char* lines;  // added to the job
  const char* sql;    // root's statements; {0} is the user and the database, {1} the run's table
  const char* said;   // the server's error
  bool can_wipe = true;
};

void PrintTo(const cause& c, std::ostream* out) {
  *out << c.name;
}

constexpr const char* no_table = "DROP TABLE {0}.{1}";
constexpr const char* no_inserts =
    "REVOKE INSERT ON {0}.* FROM '{0}'@'127.0.0.1'; KILL USER '{0}'@'127.0.0.1'";
constexpr const char* no_access =
    "REVOKE ALL ON {0}.* FROM '{0}'@'127.0.0.1'; KILL USER '{0}'@'127.0.0.1'";
constexpr const char* other_password =
    "ALTER USER '{0}'@'127.0.0.1' IDENTIFIED BY 'changed'; KILL USER '{0}'@'127.0.0.1'";

class that_ends_mysql_runs : public mysql_run, public testing::WithParamInterface<cause> {};

TEST_P(that_ends_mysql_runs, does_so_with_the_servers_words) {
  const cause& c = GetParam();
  const auto p = start(c.lines, "60s");
  const auto before = tables();
  as_root(fmt::format(fmt::runtime(c.sql), name_, before.empty() ? "" : before[0]));
  const ended e = p->wait(far_from_a_minute);
  EXPECT_EQ(e.status, 2) << e.out << e.err;
  const std::string sentence = e.err.substr(std::min(e.err.find("lockmark: "), e.err.size()));
  EXPECT_THAT(sentence, HasSubstr(c.said));
  EXPECT_THAT(sentence, HasSubstr(fmt::format("127.0.0.1:{}", mariadb().servers()[0].port)));
  EXPECT_THAT(e.out + e.err, Not(HasSubstr("hunter2")));

  EXPECT_THAT(files(), Each(Not(testing::EndsWith(".part"))));
  EXPECT_EQ(told()["run"]["status"], "failed");
  EXPECT_EQ(told()["run"]["complete"], false);
  EXPECT_THAT(told()["run"]["why"].get<std::string>(), HasSubstr(c.said));
  EXPECT_GT(told()["counts"]["granted"].get<int>(), 0);
  EXPECT_EQ(told()["verdict"]["violations"], 0);
  const ended r = report();
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("incomplete"));
  EXPECT_TRUE(is_logged_out());
  if (c.can_wipe) {
    EXPECT_THAT(tables(), IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    a_cause, that_ends_mysql_runs,
    testing::Values(
        cause{"table_dropped_under_unique_key", "lock: mysql/unique_key\n", no_table, "error 1146"},
        cause{"table_dropped_under_for_update", "lock: mysql/for_update\n", no_table, "error 1146"},
        cause{"table_dropped_under_participants", "lock: mysql/shedlock\nparticipants: 2\n",
              no_table, "error 1146"},
        cause{"rights_revoked", "lock: mysql/unique_key_reentrant\n", no_inserts, "error 1142"},
        cause{"rights_revoked_under_participants", "lock: mysql/unique_key\nparticipants: 2\n",
              no_inserts, "error 1142"},
        cause{"access_revoked", "lock: mysql/get_lock\n", no_access, "error 1044", false},
        cause{"password_changed", "lock: mysql/for_update\n", other_password, "error 1045", false},
        cause{"password_changed_under_participants",
              "lock: mysql/optimistic_version\nworkload: commit\nparticipants: 2\n", other_password,
              "error 1045", false}),
    [](const auto& of) { return std::string(of.param.name); });

struct going_on {
  const char* name;
  const char* lines;
};

void PrintTo(const going_on& g, std::ostream* out) {
  *out << g.name;
}

// A killed connection loses its holds and reconnects by itself: the run continues.
class killed_connections : public mysql_run, public testing::WithParamInterface<going_on> {};

TEST_P(killed_connections, come_back) {
  const auto p = start(GetParam().lines, "4s");
  for (int n = 0; n < 3; ++n) as_root(fmt::format("KILL USER '{}'@'127.0.0.1'", name_));
  const ended e = p->wait(far_from_a_minute);
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.out << e.err;
  EXPECT_EQ(told()["run"]["status"], "complete");
  EXPECT_EQ(told()["verdict"]["violations"], 0);
  EXPECT_GT(told()["cost_per_acquire"]["reconnects"].get<int>(), 0);
  EXPECT_THAT(files(), Each(Not(testing::EndsWith(".part"))));
  EXPECT_THAT(tables(), IsEmpty());
  EXPECT_TRUE(is_logged_out());
}

INSTANTIATE_TEST_SUITE_P(of, killed_connections,
                         testing::Values(going_on{"unique_key", "lock: mysql/unique_key\n"},
                                         going_on{"for_update", "lock: mysql/for_update\n"},
                                         going_on{"get_lock", "lock: mysql/get_lock\n"},
                                         going_on{"participants",
                                                  "lock: mysql/shedlock\nparticipants: 2\n"}),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace lockmark::cli
