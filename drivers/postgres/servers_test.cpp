#include "drivers/postgres/servers.hpp"

#include <gmock/gmock.h>

#include "drivers/postgres/route.hpp"
#include "harness/driver.hpp"

namespace lockmark::postgres {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string refusal_of(std::string_view url) {
  try {
    read_servers(url);
  } catch (const usage_error& e) {
    return e.what();
  }
  return "";
}

// Every part of a full URL is read.
TEST(servers, reads_all_parts) {
  const auto s =
      read_servers("postgresql://lm:secret@db.example:5433,[::1]/locks?tls=yes&ca=/a.pem");
  ASSERT_EQ(s.size(), 2U);
  EXPECT_EQ(s[0].host, "db.example");
  EXPECT_EQ(s[0].port, 5433);
  EXPECT_EQ(s[0].user, "lm");
  EXPECT_EQ(s[0].password, "secret");
  EXPECT_EQ(s[0].database, "locks");
  EXPECT_EQ(s[0].sslmode, "verify-full");
  EXPECT_EQ(s[0].tls.ca, "/a.pem");
  EXPECT_EQ(s[1].shown(), "postgres://[::1]:5432/locks");
}

// Missing parts have their defaults, which are libpq's but for the user.
TEST(servers, have_defaults) {
  const auto s = read_servers("postgres://127.0.0.1");
  EXPECT_EQ(s[0].port, 5432);
  EXPECT_EQ(s[0].user, "postgres");
  EXPECT_EQ(s[0].database, "postgres");
  EXPECT_EQ(s[0].sslmode, "disable");
  EXPECT_EQ(read_servers("postgres://me@h")[0].database, "me");
}

// TLS in lockmark's words and in libpq's.
TEST(servers, read_how_to_use_tls) {
  const auto mode = [](const char* query) {
    return read_servers(std::string{"postgres://h/d"} + query)[0].sslmode;
  };
  EXPECT_EQ(mode("?tls=yes&verify=no"), "require");
  for (const char* each : {"disable", "require", "verify-ca", "verify-full"}) {
    EXPECT_EQ(mode((std::string{"?sslmode="} + each).c_str()), each);
  }
  EXPECT_EQ(mode("?sslmode=verify-ca&ca=/a.pem"), "verify-ca");
  EXPECT_THAT(refusal_of("postgres://h/d?sslmode=prefer"), HasSubstr("without TLS"));
  EXPECT_THAT(refusal_of("postgres://h/d?sslmode=on"), HasSubstr("verify-full"));
}

// Each mistake is named, and no sentence repeats the password.
TEST(servers, name_the_mistake) {
  EXPECT_THAT(refusal_of("redis://u:secret@h/1"), HasSubstr("postgres://"));
  EXPECT_THAT(refusal_of("postgres://u:secret@h:70000/d"), HasSubstr("65535"));
  EXPECT_THAT(refusal_of("postgres://u:secret@h/d?writers=all"), HasSubstr("writers"));
  EXPECT_THAT(refusal_of("postgres://u:secret@h/d?nat=a:1>b:2"), HasSubstr("nat"));
  EXPECT_THAT(refusal_of("postgres://u:secret@h/d?tls=yes&server-name=x"),
              HasSubstr("server-name"));
  for (const std::string_view url : {"postgres://u:secret%4@h/d", "x://u:secret@h/d",
                                     "postgres://u:secret@h:0/d", "postgres://u:secret@h/a/b"}) {
    EXPECT_THAT(refusal_of(url), Not(HasSubstr("secret"))) << url;
    EXPECT_NE(refusal_of(url), "") << url;
  }
}

}  // namespace
}  // namespace lockmark::postgres
