#include "deploy/local/process.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "deploy/local/error.hpp"

namespace lockmark::local {
namespace {

std::string tail_of(const std::string& text, int lines) {
  const std::string file = fmt::format("{}lockmark_tail_test_{}", testing::TempDir(), getpid());
  std::ofstream(file) << text;
  const std::string result = tail(file, lines);
  std::filesystem::remove(file);
  return result;
}

// The last lines, whether or not the file ends with a newline.
TEST(tail, gives_the_last_lines) {
  EXPECT_EQ(tail_of("one\ntwo\nthree\n", 2), "two\nthree");
  EXPECT_EQ(tail_of("one\ntwo\nthree", 1), "three");
  EXPECT_EQ(tail_of("one\ntwo\nthree\n", 3), "one\ntwo\nthree");
  EXPECT_EQ(tail_of("one\n", 20), "one");
  EXPECT_EQ(tail_of("", 20), "");
  EXPECT_EQ(tail("/nowhere/at/all"), "");
}

// A missing program is reported with its package.
TEST(find_program, names_the_package) {
  EXPECT_TRUE(find_program("sh", "dash").ends_with("/sh"));
  try {
    find_program("no-such-server", "no-such-package");
    FAIL();
  } catch (const start_error& error) {
    EXPECT_STREQ(error.what(),
                 "the program no-such-server was found neither in PATH nor in /usr/sbin; install "
                 "the Debian package no-such-package");
  }
}

TEST(need_file, names_the_package) {
  EXPECT_EQ(need_file("/dev/null", "x"), "/dev/null");
  EXPECT_THROW(need_file("/nowhere/zookeeper.jar", "libzookeeper-java"), start_error);
}

TEST(describe_status, tells_exits_from_signals) {
  EXPECT_EQ(describe_status(3 << 8), "ended with exit status 3");
  EXPECT_EQ(describe_status(9), "was killed by signal 9");
}

}  // namespace
}  // namespace lockmark::local
