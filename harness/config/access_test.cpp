#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/config/target.hpp"

namespace lockmark::config {
namespace {

TEST(access, reads_a_password_from_a_variable_or_a_file) {
  setenv("LOCKMARK_TEST_PASSWORD", "hun@ter/2", 1);
  EXPECT_EQ(parse_target("redis://u@h?password-env=LOCKMARK_TEST_PASSWORD")->password, "hun@ter/2");
  unsetenv("LOCKMARK_TEST_PASSWORD");
  const auto path =
      std::filesystem::temp_directory_path() / ("lockmark_access_test_" + std::to_string(getpid()));
  std::ofstream(path) << "hunter2\n";
  const auto read = parse_target("mysql://u@h?password-file=" + path.string());
  std::filesystem::remove(path);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->password, "hunter2");
  EXPECT_EQ(read->redacted().find("hunter2"), std::string::npos);
}

TEST(access, tls_is_on_by_scheme_or_query) {
  EXPECT_FALSE(parse_target("redis://h")->tls.on);
  EXPECT_TRUE(parse_target("rediss+sentinel://h/m")->tls.on);
  const auto t = parse_target("mysql://h?tls=yes&ca=/c.pem&cert=/a.pem&key=/b.pem&verify=no");
  EXPECT_EQ(t->tls, (tls_access{true, false, "/c.pem", "/a.pem", "/b.pem", ""}));
}

TEST(access, addresses_are_translated) {
  const auto t = parse_target("redis+cluster://h?nat=10.0.0.1:1>127.0.0.1:2,[::1]:3>a:4");
  ASSERT_TRUE(t) << t.error().sentence;
  EXPECT_EQ(t->reached_at({"10.0.0.1", 1}), (host_port{"127.0.0.1", 2}));
  EXPECT_EQ(t->reached_at({"::1", 3}), (host_port{"a", 4}));
  EXPECT_EQ(t->reached_at({"10.0.0.1", 2}), (host_port{"10.0.0.1", 2}));
}

TEST(access, says_what_is_wrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"redis://h?pool=3",
       "has an unknown name in its query; the known ones are password-env, password-file, "
       "sentinel-user, sentinel-password-env, sentinel-password-file, tls, sslmode, ca, cert, key, "
       "verify, server-name, nat, writers"},
      {"redis://h?tls=1", "has a query tls that is neither yes nor no"},
      {"redis://h?ca=/x", "has TLS options in its query, but neither a rediss scheme nor tls=yes"},
      {"rediss://h?cert=/x",
       "has only one of cert and key in its query; a client certificate needs both"},
      {"redis://h?nat=a>b", "has a nat entry 'a>b' that is not HOST:PORT>HOST:PORT"},
      {"mysql+galera://h?writers=2", "has a query writers that is neither one nor all"},
      {"redis://h?password-env=LOCKMARK_UNSET",
       "wants its password from the variable LOCKMARK_UNSET, which is not set"},
      {"redis://h?password-file=/nowhere/at/all",
       "wants its password from /nowhere/at/all, which cannot be read"},
      {"redis://h?password-file=/", "wants its password from /, which cannot be read"},
      {"redis://h?password-file=/dev/zero",
       "wants its password from /dev/zero, which has more than 65536 bytes"},
  };
  for (const auto& [text, sentence] : cases) {
    const auto read = parse_target(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().sentence, sentence) << text;
  }
}

}  // namespace
}  // namespace lockmark::config
