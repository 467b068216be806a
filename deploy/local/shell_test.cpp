// Shell commands: their endings, their output, and that none runs for ever.
#include "deploy/local/shell.hpp"

#include <gtest/gtest.h>

namespace lockmark::local {
namespace {

using namespace std::chrono_literals;

TEST(run_shell, tells_how_a_command_ended_and_what_it_said) {
  const ran fine = run_shell("echo out; echo err >&2", 5s);
  EXPECT_EQ(fine.status, 0);
  EXPECT_EQ(fine.output, "out\nerr");
  EXPECT_EQ(run_shell("exit 3", 5s).status, 3);
  EXPECT_EQ(run_shell("kill -9 $$", 5s).status, 137);
  EXPECT_EQ(run_shell("/no/such/program", 5s).status, 127);
}

// The command may contain a password, and arguments can be read by every user.
TEST(run_shell, shows_the_command_to_nobody) {
  const ran seen = run_shell("SECRET=hunter2; tr '\\0' ' ' </proc/$$/cmdline", 5s);
  EXPECT_EQ(seen.status, 0);
  EXPECT_EQ(seen.output, "sh /dev/fd/9 ");
  EXPECT_EQ(run_shell("readlink /proc/self/fd/9; true", 5s).output, "");
}

TEST(run_shell, is_a_shell) {
  EXPECT_EQ(run_shell("# a comment\nfor n in 1 2; do\n echo $n; done", 5s).output, "1\n2");
  EXPECT_EQ(run_shell("a='x y'; echo \"$a\" | tr x z && (exit 4)", 5s).status, 4);
  EXPECT_NE(run_shell("echo 'no end", 5s).status, 0);
}

TEST(run_shell, reads_nothing_from_the_terminal) {
  EXPECT_EQ(run_shell("cat", 5s).status, 0);
}

TEST(run_shell, keeps_the_end_of_much_output) {
  const ran much = run_shell("seq 100000", 10s);
  EXPECT_TRUE(much.output.ends_with("\n99999\n100000"));
  EXPECT_LE(much.output.size(), 2000U);
}

// Including every process that it has started.
TEST(run_shell, kills_what_takes_too_long) {
  const ran slow = run_shell("sleep 1000 & echo $!; wait", 200ms);
  EXPECT_FALSE(slow.in_time);
  EXPECT_EQ(slow.status, 137);
  // Gone, or a zombie not yet reaped.
  EXPECT_NE(
      run_shell("sleep 0.1; grep -q '^State:.[^ZX]' /proc/" + slow.output + "/status", 5s).status,
      0);
}

// Such as a daemon started by the command.
TEST(run_shell, does_not_wait_for_what_runs_on) {
  const ran left = run_shell("sleep 1000 & echo $!", 5s);
  EXPECT_TRUE(left.in_time);
  EXPECT_EQ(run_shell("kill " + left.output, 5s).status, 0);
}

}  // namespace
}  // namespace lockmark::local
