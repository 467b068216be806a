#include "harness/metrics/address.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "harness/base/errors.hpp"

namespace lockmark::metrics {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string refusal_of(const std::function<void()>& read) {
  try {
    read();
  } catch (const usage_error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(listen_address, is_read) {
  const auto read = [](std::string_view text) {
    const listen_address a = parse_listen(text);
    return fmt::format("{} {}", a.host, a.port);
  };
  EXPECT_EQ(read(":9464"), "0.0.0.0 9464");
  EXPECT_EQ(read("127.0.0.1:0"), "127.0.0.1 0");
  EXPECT_EQ(read("localhost:1"), "127.0.0.1 1");
  EXPECT_EQ(read("0.0.0.0:65535"), "0.0.0.0 65535");
  EXPECT_EQ(read("[::1]:9464"), "[::1] 9464");
}

TEST(listen_address, is_refused_in_a_sentence) {
  for (const char* text :
       {"", "9464", "127.0.0.1", "[::1]", "127.0.0.1:", "127.0.0.1:65536", ":-1", ":80x",
        "1.2.3:80", "::1:9464", "[127.0.0.1]:1", "host:9464", "http://127.0.0.1:9464"}) {
    EXPECT_THAT(refusal_of([&] { parse_listen(text); }),
                AllOf(HasSubstr("--metrics"), HasSubstr("127.0.0.1:9464"), HasSubstr("'")))
        << text;
  }
}

TEST(listen_address, is_shown_as_somebody_here_reaches_it) {
  EXPECT_EQ(url_of({"127.0.0.1", 80}), "http://127.0.0.1:80/metrics");
  EXPECT_EQ(url_of({"0.0.0.0", 80}), "http://127.0.0.1:80/metrics");
  EXPECT_EQ(url_of({"[::]", 80}), "http://[::1]:80/metrics");
}

TEST(gateway, is_read) {
  EXPECT_EQ(parse_gateway("http://127.0.0.1:9091").url, "http://127.0.0.1:9091");
  EXPECT_EQ(parse_gateway("http://gate/").url, "http://gate");
  EXPECT_EQ(parse_gateway("https://gate:1/a/b/").url, "https://gate:1/a/b");
  EXPECT_EQ(parse_gateway("http://[::1]:9091").url, "http://[::1]:9091");
  const gateway g = parse_gateway("http://me:s%40cret@gate:9091");
  EXPECT_EQ(g.url, "http://gate:9091");
  EXPECT_EQ(g.user, "me");
  EXPECT_EQ(g.password, "s@cret");
}

TEST(gateway, is_refused_without_its_password) {
  for (const char* text :
       {"", "gate:9091", "ftp://me:s3cret@gate", "http://", "http://me:s3cret@gate:port",
        "http://me:s3cret@gate/?a=b", "http://me:s3cret@gate/#x", "http://me:1/s3cret@gate",
        "me:s3cret://gate"}) {
    EXPECT_THAT(refusal_of([&] { parse_gateway(text); }),
                AllOf(HasSubstr("--push"), HasSubstr("http://host:9091"), Not(HasSubstr("s3cret"))))
        << text;
  }
}

}  // namespace
}  // namespace lockmark::metrics
