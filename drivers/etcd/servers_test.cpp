#include "drivers/etcd/servers.hpp"

#include <gmock/gmock.h>

#include "harness/driver.hpp"

namespace lockmark::etcd {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string complaint(const char* url) {
  try {
    servers_at(url);
  } catch (const usage_error& e) {
    return e.what();
  }
  return "";
}

TEST(servers, hosts_and_default_port) {
  const auto s = servers_at("etcd://a,b:2380,[::1]:5");
  EXPECT_THAT(s.hosts, ElementsAre(config::host_port{"a", 2379}, config::host_port{"b", 2380},
                                   config::host_port{"::1", 5}));
  EXPECT_EQ(s.name(), "etcd://a:2379,b:2380,[::1]:5");
  EXPECT_EQ(s.user, "");
  EXPECT_EQ(s.secure, nullptr);
}

// The login is not part of the name; certificates are read at once.
TEST(servers, login_and_tls) {
  const auto s = servers_at("etcd://me:p%40ss@a?tls=yes&verify=no");
  EXPECT_EQ(s.user, "me");
  EXPECT_EQ(s.password, "p@ss");
  EXPECT_EQ(s.name(), "etcd://a:2379");
  ASSERT_NE(s.secure, nullptr);
  EXPECT_EQ(s.secure->settings().protocol, "h2");
  EXPECT_EQ(s.secure_http1->settings().protocol, "http/1.1");
  EXPECT_THAT(complaint("etcd://a?tls=yes&ca=/nowhere/ca.pem"), HasSubstr("/nowhere/ca.pem"));
}

TEST(servers, translated_addresses) {
  EXPECT_EQ(servers_at("etcd://a:1,b:2?nat=a:1%3E127.0.0.1:9").name(), "etcd://127.0.0.1:9,b:2");
}

// An error names the mistake and the expected form, and never the password.
TEST(servers, mistakes) {
  EXPECT_THAT(complaint("zookeeper://a"), HasSubstr("expected etcd://"));
  EXPECT_THAT(complaint("etcd://a/x"), HasSubstr("path"));
  EXPECT_THAT(complaint("etcd://user@a"), HasSubstr("user without a password"));
  EXPECT_THAT(complaint("etcd://u:secret@a:x"), AllOf(Not(HasSubstr("secret")), Not("")));
}

}  // namespace
}  // namespace lockmark::etcd
