#include "drivers/redis/target.hpp"

#include <gtest/gtest.h>

#include "harness/driver.hpp"

namespace lockmark::redis {
namespace {

using config::host_port;

target only(std::string_view url) {
  const auto all = parse_targets(url);
  EXPECT_EQ(all.size(), 1U);
  return all.front();
}

// Missing parts have their defaults.
TEST(redis_target, host_alone) {
  const target t = only("redis://db.example");
  EXPECT_EQ(t.how, target::form::single);
  EXPECT_EQ(t.hosts, (std::vector<host_port>{{"db.example", 6379}}));
  EXPECT_EQ(t.db, 0);
  EXPECT_TRUE(t.user.empty());
  EXPECT_TRUE(t.password.empty());
  EXPECT_FALSE(t.tls.on);
}

// All parts; user and password are percent-decoded.
TEST(redis_target, everything) {
  const target t = only("redis://al%3Aice:p%40ss%2Fw:rd@10.0.0.1:7000/3");
  EXPECT_EQ(t.user, "al:ice");
  EXPECT_EQ(t.password, "p@ss/w:rd");
  EXPECT_EQ(t.hosts, (std::vector<host_port>{{"10.0.0.1", 7000}}));
  EXPECT_EQ(t.db, 3);
}

// The default user's password needs no name; IPv6 addresses are in brackets.
TEST(redis_target, password_only_and_ipv6) {
  const target t = only("redis://:secret@[::1]:6380/");
  EXPECT_TRUE(t.user.empty());
  EXPECT_EQ(t.password, "secret");
  EXPECT_EQ(t.hosts.front().host, "::1");
  EXPECT_EQ(t.name(), "redis://[::1]:6380");
}

// Sentinels and seeds of a Cluster make one deployment.
TEST(redis_target, several_hosts_of_one_deployment) {
  const target s = only("redis+sentinel://u:p@a,b:5/main?sentinel-user=v&nat=x:1>y:2");
  EXPECT_EQ(s.how, target::form::sentinel);
  EXPECT_EQ(s.hosts, (std::vector<host_port>{{"a", 26379}, {"b", 5}}));
  EXPECT_EQ(s.path, "main");
  EXPECT_EQ(s.sentinel_user, "v");
  EXPECT_EQ(s.reached_at({"x", 1}), (host_port{"y", 2}));
  EXPECT_EQ(s.reached_at({"x", 2}), (host_port{"x", 2}));
  const target c = only("rediss+cluster://a,b");
  EXPECT_EQ(c.how, target::form::cluster);
  EXPECT_EQ(c.hosts.size(), 2U);
  EXPECT_TRUE(c.tls.on);
}

// Independent masters are one deployment each, with one login for all.
TEST(redis_target, independent_masters) {
  const auto all = parse_targets("rediss+independent://u:p@a,b:5,c");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].name(), "rediss://b:5");
  for (const target& t : all) {
    EXPECT_EQ(t.how, target::form::single);
    EXPECT_EQ(t.password, "p");
    EXPECT_TRUE(t.tls.on);
  }
}

// A node of each Cluster: a Cluster tells of its others.
TEST(redis_target, a_node_of_each_cluster) {
  const auto all = parse_targets("redis+clusters://u:p@a,b:5?nat=x:1>y:2");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name(), "redis+cluster://a:6379");
  EXPECT_EQ(all[1].name(), "redis+cluster://b:5");
  for (const target& t : all) {
    EXPECT_EQ(t.how, target::form::cluster);
    EXPECT_EQ(t.password, "p");
    EXPECT_EQ(t.reached_at({"x", 1}), (host_port{"y", 2}));
  }
}

// The name for people never shows the password.
TEST(redis_target, name_hides_the_password) {
  EXPECT_EQ(only("redis://u:secret@h:1/2").name(), "redis://h:1/2");
  EXPECT_EQ(only("rediss+sentinel://u:secret@h:1,i/main").name(),
            "rediss+sentinel://h:1,i:26379/main");
  EXPECT_EQ(only("redis+cluster://u:secret@h:1,i").name(), "redis+cluster://h:1,i:6379");
}

// Anything else is refused with a sentence that does not contain the password.
TEST(redis_target, refuses_nonsense) {
  for (const auto* url :
       {"", "redis:/h", "mysql://h", "redis://", "redis://h:", "redis://h:0", "redis://h:65536",
        "redis://h:12x", "redis://h/x", "redis://h/-1", "redis://a,b", "redis://user@h",
        "redis://u:@h", "redis://u:secret%4@h", "redis://u:secret%zz@h", "redis://[::1",
        "redis://::1:5", "redis://[::1]x", "redis+sentinel://h"}) {
    try {
      parse_targets(url);
      ADD_FAILURE() << url << " was accepted";
    } catch (const usage_error& e) {
      EXPECT_EQ(std::string{e.what()}.find("secret"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace lockmark::redis
