// The topologies of PostgreSQL, verified with psql.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "deploy/local/ask.hpp"
#include "deploy/local/cluster.hpp"
#include "deploy/local/process.hpp"
#include "deploy/local/test_support.hpp"

namespace lockmark::local {
namespace {

// psql with the URL that users get.
int query(const std::string& target, const std::string& sql) {
  return std::system(
      fmt::format("psql --no-password --quiet '{}' --command=\"{}\" >/dev/null 2>&1", target, sql)
          .c_str());
}

// The target's password and database are the server's; whoever guesses is refused.
TEST(postgres, lets_the_user_of_its_target_in) {
  const cluster running = cluster::start("postgres");
  EXPECT_EQ(query(running.target(), "CREATE TABLE t (i integer)"), 0);
  std::string wrong = running.target();
  wrong.replace(wrong.find("lockmark:") + 9, 24, "wrong");
  EXPECT_NE(query(wrong, "SELECT 1"), 0);
  EXPECT_EQ(ask_postgres(running.info(), running.servers()[0],
                         "SELECT current_setting('max_connections'), rolsuper FROM pg_roles "
                         "WHERE rolname = 'lockmark';"),
            "2000|f\n");
}

// Nobody but its own user may look into the data.
TEST(postgres, keeps_its_folder_private) {
  const cluster running = cluster::start("postgres");
  struct stat folder {};
  ASSERT_EQ(stat((running.directory() + "/postgres").c_str(), &folder), 0);
  EXPECT_EQ(folder.st_mode & 0077, 0U);
  struct stat whole {};
  ASSERT_EQ(stat(running.directory().c_str(), &whole), 0);
  EXPECT_EQ(whole.st_mode & 0066, 0U) << "its names cannot be listed";
}

// One process for each connection, none of them in the server's group: a pause stops all, and a
// killed server can start again at once.
TEST(postgres, pauses_and_restarts_with_all_its_processes) {
  cluster running = cluster::start("postgres");
  const std::string busy = fmt::format(
      "psql --no-password --quiet '{}' --command='SELECT "
      "pg_sleep(60)' >/dev/null 2>&1 &",
      running.target());
  ASSERT_EQ(std::system(busy.c_str()), 0);
  const std::string sleepers =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep';";
  EXPECT_TRUE(eventually(
      [&] { return ask_postgres(running.info(), running.servers()[0], sleepers) == "1\n"; }));
  running.kill("postgres", SIGSTOP);
  std::ifstream listed(fmt::format("/proc/{0}/task/{0}/children", running.servers()[0].pid));
  const std::vector<pid_t> children{std::istream_iterator<pid_t>{listed}, {}};
  EXPECT_GT(children.size(), 1U);
  // One that was ending then ends.
  for (const pid_t child : children) EXPECT_THAT(state_of(child), testing::AnyOf('T', 'Z'));
  running.kill("postgres", SIGCONT);
  running.restart("postgres");
  EXPECT_EQ(ask_postgres(running.info(), running.servers()[0], sleepers), "0\n");
}

// A session that is busy sees neither its server's end nor its keeper's.
TEST(postgres, leaves_no_busy_session_after_the_death_of_its_keeper) {
  cluster running = cluster::start("postgres");
  const cluster_info before = running.info();
  const std::string busy = fmt::format(
      "psql --no-password --quiet '{}' --command='DO $$ BEGIN LOOP END LOOP; END $$' "
      ">/dev/null 2>&1 &",
      running.target());
  ASSERT_EQ(std::system(busy.c_str()), 0);
  const std::string looping =
      "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DO %' AND state = 'active';";
  EXPECT_TRUE(
      eventually([&] { return ask_postgres(before, before.servers[0], looping) == "1\n"; }));
  ::kill(before.keeper, SIGKILL);
  running.stop();
  EXPECT_THAT(processes_in(before.directory), testing::IsEmpty());
  EXPECT_TRUE(is_gone(before));
}

// Or a busy machine would not let its connections run, which have a session each otherwise.
TEST(postgres, keeps_its_processes_in_the_session_of_their_owner) {
  const cluster running = cluster::start("postgres");
  const std::string asked =
      ask_postgres(running.info(), running.servers()[0],
                   "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer';");
  const pid_t pid = std::atoi(asked.c_str());
  ASSERT_GT(pid, 0) << asked;
  EXPECT_EQ(getsid(pid), getsid(0));
  EXPECT_EQ(getpgid(pid), pid);
}

// The pooler lends one session to clients in turn, and lets nobody else in.
TEST(postgres_pgbouncer, pools_transactions) {
  const cluster running = cluster::start("postgres-pgbouncer");
  EXPECT_EQ(query(running.target(), "SELECT 1"), 0);
  EXPECT_EQ(query(running.target(), "SELECT 1"), 0);
  EXPECT_EQ(ask_postgres(running.info(), running.servers()[0],
                         "SELECT count(*) FROM pg_stat_activity WHERE usename = 'lockmark';"),
            "1\n");
  std::string wrong = running.target();
  wrong.replace(wrong.find("lockmark:") + 9, 24, "wrong");
  EXPECT_NE(query(wrong, "SELECT 1"), 0);
}

}  // namespace
}  // namespace lockmark::local
