#include "drivers/conformance/network.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace lockmark::conformance {
namespace {

using config::host_port;

// The hosts are parsed; everything else stays as written.
TEST(split_url, keeps_everything_but_the_hosts) {
  url_parts u = split_url("mysql://me:a%40b@db.example,other:3307/test?tls=yes&ca=/a/b");
  EXPECT_EQ(u.scheme, "mysql://");
  EXPECT_EQ(u.userinfo, "me:a%40b@");
  EXPECT_EQ(u.hosts, (std::vector<host_port>{{"db.example", 3306}, {"other", 3307}}));
  EXPECT_EQ(u.path, "/test");
  EXPECT_EQ(u.query, (std::vector<std::string>{"tls=yes", "ca=/a/b"}));
  u.hosts = {{"127.0.0.1", 1}, {"::1", 2}};
  EXPECT_EQ(u.to_string(), "mysql://me:a%40b@127.0.0.1:1,[::1]:2/test?tls=yes&ca=/a/b");
  EXPECT_EQ(split_url("redis://h:1").to_string(), "redis://h:1");
}

// A nat is kept separate from the rest of the query.
TEST(split_url, reads_nat) {
  url_parts u = split_url("redis+cluster://h:1?nat=a:1>b:2,c:3>d:4&tls=no");
  EXPECT_EQ(u.nat.at({"a", 1}), (host_port{"b", 2}));
  EXPECT_EQ(u.to_string(), "redis+cluster://h:1?tls=no&nat=a:1>b:2,c:3>d:4");
}

// No scheme, no host, not a network target; and the error does not contain the password.
TEST(split_url, refuses_what_has_no_servers) {
  EXPECT_THROW(split_url("host:1"), std::runtime_error);
  EXPECT_THROW(split_url("redis://"), std::runtime_error);
  EXPECT_THROW(split_url("memory:"), std::runtime_error);
  try {
    split_url("redis://me:hunter2@host:99999");
    FAIL() << "took a port of 99999";
  } catch (const std::runtime_error& e) {
    EXPECT_EQ(std::string{e.what()}.find("hunter2"), std::string::npos);
  }
}

// Each host has its proxy; without hidden servers the query is unchanged.
TEST(shaky_network, replaces_the_hosts) {
  const shaky_network n{"zookeeper://127.0.0.1:1,127.0.0.1:2/root?tls=no", {}};
  const auto behind = config::parse_target(n.url().to_string());
  ASSERT_TRUE(behind);
  EXPECT_EQ(n.hosts(), 2U);
  EXPECT_EQ(behind->hosts.size(), 2U);
  EXPECT_NE(behind->hosts[0], behind->hosts[1]);
  EXPECT_GT(behind->hosts[0].port, 2);
  EXPECT_EQ(behind->path, "/root");
  EXPECT_EQ(behind->query, (std::map<std::string, std::string>{{"tls", "no"}}));
}

// Hidden servers are reached by nat; one that is also a host shares that host's proxy.
TEST(shaky_network, leads_to_hidden_servers_by_nat) {
  const shaky_network n{"redis+cluster://:pw@127.0.0.1:1,127.0.0.1:2",
                        {"127.0.0.1:2", "localhost:3"}};
  const auto behind = config::parse_target(n.url().to_string());
  ASSERT_TRUE(behind);
  EXPECT_EQ(behind->password, "pw");
  EXPECT_EQ(behind->nat.size(), 3U);
  EXPECT_EQ(behind->reached_at({"127.0.0.1", 1}), behind->hosts[0]);
  EXPECT_EQ(behind->reached_at({"127.0.0.1", 2}), behind->hosts[1]);
  EXPECT_EQ(behind->reached_at({"localhost", 3}).host, "127.0.0.1");
  EXPECT_NE(behind->reached_at({"localhost", 3}).port, 3);
  EXPECT_TRUE(n.is_named_in("at localhost:3: refused"));
  EXPECT_TRUE(n.is_named_in("at " + to_string(behind->hosts[1]) + ": refused"));
  EXPECT_FALSE(n.is_named_in("refused"));
}

// The proxies follow a nat already in the URL, and replace it for the driver.
TEST(shaky_network, stands_behind_a_nat_that_is_there) {
  const shaky_network n{"redis+sentinel://127.0.0.1:1/m?nat=inside:9>127.0.0.1:4", {"inside:9"}};
  const auto behind = config::parse_target(n.url().to_string());
  ASSERT_TRUE(behind);
  EXPECT_EQ(behind->reached_at({"inside", 9}).host, "127.0.0.1");
  EXPECT_NE(behind->reached_at({"inside", 9}).port, 4);
}

}  // namespace
}  // namespace lockmark::conformance
