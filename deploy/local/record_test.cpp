#include "deploy/local/record.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace lockmark::local {
namespace {

// Written and parsed again, a record is unchanged.
TEST(record, survives_being_written) {
  const cluster_info before{"redis", "redis://127.0.0.1:7000",           "/tmp/x", true,
                            17,      {{"redis", 18, 7000, "/tmp/x/log"}}};
  const cluster_info after = cluster_from_json(to_json(before));
  EXPECT_EQ(after.target, before.target);
  EXPECT_TRUE(after.in_memory);
  EXPECT_EQ(after.keeper, 17);
  ASSERT_EQ(after.servers.size(), 1u);
  EXPECT_EQ(after.servers[0].pid, 18);
  EXPECT_EQ(after.servers[0].log, "/tmp/x/log");
}

// A log with invalid UTF-8 does not hide the error beside it.
TEST(record, carries_any_log) {
  const reply answer = reply_from_json(to_json(reply{{}, "redis died", "a\xff\xfe z"}));
  EXPECT_EQ(answer.error, "redis died");
  EXPECT_TRUE(answer.log.starts_with("a"));
  EXPECT_TRUE(answer.log.ends_with(" z"));
}

TEST(record, refuses_other_text) {
  EXPECT_THROW(cluster_from_json(""), std::runtime_error);
  EXPECT_THROW(cluster_from_json("{}"), std::runtime_error);
}

}  // namespace
}  // namespace lockmark::local
