#include "drivers/zookeeper/preflight.hpp"

#include <gmock/gmock.h>

#include "harness/base/process.hpp"

namespace lockmark::zookeeper {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

// The granted timeout is only worth a note if it differs from the requested one.
TEST(preflight, session_timeout) {
  EXPECT_FALSE(judge_session_timeout(seconds(10), seconds(10)));
  const auto found = judge_session_timeout(seconds(1), seconds(4));
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->fatal);
  EXPECT_THAT(found->sentence, HasSubstr("1000 ms was asked for, and the servers grant 4000 ms"));
}

// No limit admits all; a limit applies per server, and an unknown one may be 60.
TEST(preflight, connections) {
  EXPECT_FALSE(judge_connections({0}, 100'000));
  EXPECT_FALSE(judge_connections({60, 60}, 60));
  EXPECT_FALSE(judge_connections({std::nullopt}, 60));

  const auto uneven = judge_connections({60, 60, 60}, 61);
  ASSERT_TRUE(uneven);
  EXPECT_FALSE(uneven->fatal);
  const auto too_many = judge_connections({60, 60, 60}, 181);
  ASSERT_TRUE(too_many);
  EXPECT_TRUE(too_many->fatal);
  EXPECT_THAT(too_many->sentence, HasSubstr("181 sessions were asked for, and the servers take "
                                            "180 connections"));
  const auto secret = judge_connections({std::nullopt, 0}, 61);
  ASSERT_TRUE(secret);
  EXPECT_FALSE(secret->fatal);
  EXPECT_THAT(secret->sentence, HasSubstr("4lw.commands.whitelist"));
}

// Each session takes two descriptors, in addition to those already open.
TEST(preflight, descriptors) {
  EXPECT_FALSE(judge_descriptors(1024, 10, 490));
  const auto found = judge_descriptors(1024, 10, 492);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->fatal);
  EXPECT_THAT(found->sentence, HasSubstr("this process may have 1024"));
  EXPECT_GT(descriptor_limit(), 0U);
  EXPECT_GE(descriptors_in_use(), 3U);
}

// Servers that are down are named.
TEST(preflight, silence) {
  EXPECT_FALSE(judge_silence({}, 3));
  EXPECT_THAT(judge_silence({"b:2"}, 3)->sentence, HasSubstr("1 of 3 servers do not answer: b:2"));
}

}  // namespace
}  // namespace lockmark::zookeeper
