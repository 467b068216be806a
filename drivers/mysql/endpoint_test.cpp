#include "drivers/mysql/endpoint.hpp"

#include <gtest/gtest.h>

#include "harness/driver.hpp"

namespace lockmark::mysql {
namespace {

std::string refusal_of(std::string_view url) {
  try {
    parse_endpoint(url);
  } catch (const usage_error& e) {
    return e.what();
  }
  return "";
}

// Every part of a full URL lands where it belongs.
TEST(endpoint, reads_all_parts) {
  const endpoint e = parse_endpoint("mysql://lm:secret@db.example:3307/locks");
  EXPECT_EQ(e.host, "db.example");
  EXPECT_EQ(e.port, 3307);
  EXPECT_EQ(e.user, "lm");
  EXPECT_EQ(e.password, "secret");
  EXPECT_EQ(e.database, "locks");
}

// What is left out has its usual value.
TEST(endpoint, has_defaults) {
  const endpoint e = parse_endpoint("mysql://127.0.0.1/locks");
  EXPECT_EQ(e.user, "root");
  EXPECT_EQ(e.password, "");
  EXPECT_EQ(e.port, 3306);
}

// Reserved characters are written as %xx, and an '@' or '/' in a password is understood as it is.
TEST(endpoint, decodes_the_login) {
  EXPECT_EQ(parse_endpoint("mysql://a%40b:%2f%3A%25@h/d").user, "a@b");
  EXPECT_EQ(parse_endpoint("mysql://a%40b:%2f%3A%25@h/d").password, "/:%");
  EXPECT_EQ(parse_endpoint("mysql://u:p@ss/w@h/d").password, "p@ss/w");
}

// An IPv6 address stands in brackets, in and out.
TEST(endpoint, reads_ipv6) {
  const endpoint e = parse_endpoint("mysql://[::1]:3310/d");
  EXPECT_EQ(e.host, "::1");
  EXPECT_EQ(e.port, 3310);
  EXPECT_EQ(e.shown(), "mysql://[::1]:3310/d");
  EXPECT_EQ(parse_endpoint("mysql://[::1]/d").port, 3306);
}

// What is shown to people has no login in it.
TEST(endpoint, shows_no_password) {
  EXPECT_EQ(parse_endpoint("mysql://lm:secret@h/d").shown(), "mysql://h:3306/d");
}

// Each mistake is named, and no sentence repeats the password.
TEST(endpoint, names_the_mistake) {
  EXPECT_NE(refusal_of("redis://u:secret@h/d").find("'mysql://'"), std::string::npos);
  EXPECT_NE(refusal_of("mysql://u:secret@h").find("database"), std::string::npos);
  EXPECT_NE(refusal_of("mysql://u:secret@h/").find("database"), std::string::npos);
  EXPECT_NE(refusal_of("mysql://u:secret@/d").find("host"), std::string::npos);
  EXPECT_NE(refusal_of("mysql://u:secret@h:0/d").find("port '0'"), std::string::npos);
  EXPECT_NE(refusal_of("mysql://u:secret@h:70000/d").find("65535"), std::string::npos);
  EXPECT_NE(refusal_of("mysql://u:secret@h:3x/d").find("'3x'"), std::string::npos);
  EXPECT_NE(refusal_of("mysql://u:secret@[::1/d").find("']'"), std::string::npos);
  EXPECT_NE(refusal_of("mysql://u:secret@[::1]9/d").find("':port'"), std::string::npos);
  EXPECT_NE(refusal_of("mysql://u:secret@a,b/d").find("one host"), std::string::npos);
  EXPECT_NE(refusal_of("mysql://u:secret@h/d?x=1").find("nothing may follow"), std::string::npos);
  EXPECT_NE(refusal_of("mysql://:secret@h/d").find("user"), std::string::npos);
  EXPECT_NE(refusal_of("mysql://u:secret%4@h/d").find("password has a '%'"), std::string::npos);
  for (const std::string_view url : {"mysql://u:secret@h", "mysql://u:secret%4@h/d",
                                     "x://u:secret@h/d", "mysql://u:secret@h:0/d"}) {
    EXPECT_EQ(refusal_of(url).find("secret"), std::string::npos) << url;
  }
}

}  // namespace
}  // namespace lockmark::mysql
