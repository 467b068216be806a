#include "drivers/zookeeper/servers.hpp"

#include <gmock/gmock.h>

#include "harness/driver.hpp"

namespace lockmark::zookeeper {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string complaint(const char* url) {
  try {
    servers_at(url);
  } catch (const usage_error& e) {
    return e.what();
  }
  return "";
}

// The default port is 2181; without a path there is no chroot, without a user no login.
TEST(servers, hosts_and_default_port) {
  const auto s = servers_at("zookeeper://a,b:2182,[::1]:2183");
  EXPECT_THAT(s.hosts, ElementsAre(config::host_port{"a", 2181}, config::host_port{"b", 2182},
                                   config::host_port{"::1", 2183}));
  EXPECT_EQ(s.chroot, "");
  EXPECT_EQ(s.login, "");
  EXPECT_EQ(s.host_list(), "a:2181,b:2182,[::1]:2183");
}

// The path is the chroot; user and password are the digest's.
TEST(servers, chroot_and_login) {
  const auto s = servers_at("zookeeper://me:p%40ss@a/x/y");
  EXPECT_EQ(s.chroot, "/x/y");
  EXPECT_EQ(s.login, "me:p@ss");
  EXPECT_EQ(s.name(), "zookeeper://a:2181");
}

// Translated addresses replace the hosts.
TEST(servers, translated_addresses) {
  EXPECT_EQ(servers_at("zookeeper://a:1,b:2?nat=a:1%3E127.0.0.1:9").host_list(), "127.0.0.1:9,b:2");
}

// An error names the mistake and the expected form, and never the password.
TEST(servers, mistakes) {
  EXPECT_THAT(complaint("redis://a"), HasSubstr("expected zookeeper://"));
  EXPECT_THAT(complaint("zookeeper://a:99999"), HasSubstr("port"));
  EXPECT_THAT(complaint("zookeeper://a,,b"), HasSubstr("no name for host 2"));
  EXPECT_THAT(complaint("zookeeper://a/x//y"), HasSubstr("wrong path"));
  EXPECT_THAT(complaint("zookeeper://user@a"), HasSubstr("user without a password"));
  EXPECT_THAT(complaint("zookeeper://:secret@a"), HasSubstr("password without a user"));
  EXPECT_THAT(complaint("zookeeper://u:secret@a:x"), Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace lockmark::zookeeper
