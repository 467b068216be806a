#include "drivers/redis/target.hpp"

#include <gtest/gtest.h>

#include "harness/driver.hpp"

namespace lockmark::redis {
namespace {

// What is not said has its default.
TEST(redis_target, host_alone) {
  const target t = parse_target("redis://db.example");
  EXPECT_EQ(t.host, "db.example");
  EXPECT_EQ(t.port, 6379);
  EXPECT_EQ(t.db, 0);
  EXPECT_TRUE(t.user.empty());
  EXPECT_TRUE(t.password.empty());
}

// Everything said, and user and password percent-decoded.
TEST(redis_target, everything) {
  const target t = parse_target("redis://al%3Aice:p%40ss%2Fw:rd@10.0.0.1:7000/3");
  EXPECT_EQ(t.user, "al:ice");
  EXPECT_EQ(t.password, "p@ss/w:rd");
  EXPECT_EQ(t.host, "10.0.0.1");
  EXPECT_EQ(t.port, 7000);
  EXPECT_EQ(t.db, 3);
}

// The default user's password needs no name; IPv6 addresses stand in brackets.
TEST(redis_target, password_only_and_ipv6) {
  const target t = parse_target("redis://:secret@[::1]:6380/");
  EXPECT_TRUE(t.user.empty());
  EXPECT_EQ(t.password, "secret");
  EXPECT_EQ(t.host, "::1");
  EXPECT_EQ(t.port, 6380);
  EXPECT_EQ(t.name(), "redis://[::1]:6380");
}

// The name for people never shows the password.
TEST(redis_target, name_hides_the_password) {
  EXPECT_EQ(parse_target("redis://u:secret@h:1/2").name(), "redis://h:1/2");
}

// What cannot be understood is refused, with a sentence that does not hold the password.
TEST(redis_target, refuses_nonsense) {
  for (const auto* url :
       {"", "redis:/h", "mysql://h", "redis://", "redis://h:", "redis://h:0", "redis://h:65536",
        "redis://h:12x", "redis://h/x", "redis://h/-1", "redis://a,b", "redis://user@h",
        "redis://u:@h", "redis://u:secret%4@h", "redis://u:secret%zz@h", "redis://[::1",
        "redis://::1:5", "redis://[::1]x"}) {
    try {
      parse_target(url);
      ADD_FAILURE() << url << " was accepted";
    } catch (const usage_error& e) {
      EXPECT_EQ(std::string{e.what()}.find("secret"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace lockmark::redis
