#include "harness/base/glob.hpp"

#include <gtest/gtest.h>

namespace lockmark {
namespace {

TEST(glob, matches_whole_names) {
  EXPECT_TRUE(matches_glob("redis/*", "redis/lua"));
  EXPECT_TRUE(matches_glob("*lua", "redis/lua"));
  EXPECT_FALSE(matches_glob("redis/lua", "redis/lua2"));
  EXPECT_FALSE(matches_glob("", "redis/lua"));
}

TEST(glob, any_of_a_list_is_enough) {
  EXPECT_TRUE(matches_any("redis/* mysql/get_lock", "redis/lua"));
  EXPECT_TRUE(matches_any("redis/* mysql/get_lock", "mysql/get_lock"));
  EXPECT_FALSE(matches_any("redis/lua", "redis/lua2"));
  EXPECT_FALSE(matches_any("", "redis/lua"));
  const std::vector<std::string> globs{"zookeeper/*", "redis/l?a"};
  EXPECT_TRUE(matches_any(globs, "redis/lua"));
  EXPECT_FALSE(matches_any(globs, "mysql/get_lock"));
}

}  // namespace
}  // namespace lockmark
