#include "drivers/conformance/proxy.hpp"

#include <gtest/gtest.h>

namespace lockmark::conformance {
namespace {

// What a proxy replaces is the host and the port; the rest stays.
TEST(split_url, keeps_everything_but_the_address) {
  const url_parts u = split_url("mysql://me:a@b@db.example:3306/test?x=1");
  EXPECT_EQ(u.host, "db.example");
  EXPECT_EQ(u.port, 3306);
  EXPECT_EQ(u.to_string("127.0.0.1:1"), "mysql://me:a@b@127.0.0.1:1/test?x=1");
  EXPECT_EQ(split_url("redis://h:1").to_string("g:2"), "redis://g:2");
}

// Several hosts, no port, no scheme: not for this proxy.
TEST(split_url, refuses_what_is_not_one_address) {
  EXPECT_THROW(split_url("zookeeper://a:1,b:2/x"), std::runtime_error);
  EXPECT_THROW(split_url("redis://host"), std::runtime_error);
  EXPECT_THROW(split_url("host:1"), std::runtime_error);
  EXPECT_THROW(split_url("redis://host:99999"), std::runtime_error);
}

}  // namespace
}  // namespace lockmark::conformance
