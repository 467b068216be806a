#include "drivers/redis/preflight.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace lockmark::redis {
namespace {

reply error_reply(std::string text) {
  reply r;
  r.what = reply::kind::error;
  r.text = std::move(text);
  return r;
}

// A run that does not fit does not begin; an unknown limit is no limit.
TEST(redis_preflight, counts_connections) {
  EXPECT_FALSE(judge_crowd("s", {.wanted = 90, .limit = 100, .there = 10}));
  EXPECT_FALSE(judge_crowd("s", {.wanted = 9000, .limit = 0, .there = 10}));
  const auto f = judge_crowd("redis://h:1", {.wanted = 91, .limit = 100, .there = 10});
  ASSERT_TRUE(f);
  EXPECT_TRUE(f->fatal);
  EXPECT_EQ(f->sentence,
            "redis://h:1 lets 100 connections in and has 10; the run needs 91 more: raise "
            "maxclients or lower the number of clients");
}

// Sockets of this process, on all servers together.
TEST(redis_preflight, counts_descriptors) {
  EXPECT_FALSE(judge_descriptors(900, 1024));
  EXPECT_FALSE(judge_descriptors(900, std::numeric_limits<std::uint64_t>::max()));
  const auto f = judge_descriptors(1000, 1024);
  ASSERT_TRUE(f);
  EXPECT_TRUE(f->fatal);
  EXPECT_NE(f->sentence.find("ulimit -n"), std::string::npos);
}

// Eviction matters only if memory is limited.
TEST(redis_preflight, warns_of_eviction) {
  EXPECT_FALSE(judge_eviction("s", "allkeys-lru", 0));
  EXPECT_FALSE(judge_eviction("s", "noeviction", 1000));
  EXPECT_FALSE(judge_eviction("s", "", 1000));
  for (const char* policy : {"allkeys-lru", "volatile-ttl"}) {
    const auto f = judge_eviction("s", policy, 1000);
    ASSERT_TRUE(f);
    EXPECT_FALSE(f->fatal);
    EXPECT_NE(f->sentence.find(policy), std::string::npos);
  }
}

// The sentence names the refused command.
TEST(redis_preflight, names_what_is_refused) {
  EXPECT_FALSE(judge_permission("s", "EVAL", reply{}));
  const auto f = judge_permission("s", "EVAL", error_reply("NOPERM this user has no permissions"));
  ASSERT_TRUE(f);
  EXPECT_TRUE(f->fatal);
  EXPECT_NE(f->sentence.find("refuses EVAL"), std::string::npos);
}

TEST(redis_preflight, knows_what_survives) {
  EXPECT_EQ(durability_of("no", "always"), "none");
  EXPECT_EQ(durability_of("yes", "always"), "each change");
  EXPECT_EQ(durability_of("yes", "everysec"), "all but 1 s");
  EXPECT_EQ(durability_of("yes", "no"), "as the kernel writes");
  EXPECT_EQ(durability_of("unknown", "unknown"), "");
}

// CONFIG GET answers name and value.
TEST(redis_preflight, reads_settings) {
  reply r;
  r.what = reply::kind::array;
  EXPECT_EQ(setting_in(r), "");
  r.parts.resize(2);
  r.parts[1].text = "10000";
  EXPECT_EQ(setting_in(r), "10000");
  EXPECT_EQ(setting_in(error_reply("NOPERM")), "");
  EXPECT_EQ(number_in("10000"), 10000U);
  EXPECT_EQ(number_in(""), 0U);
}

}  // namespace
}  // namespace lockmark::redis
