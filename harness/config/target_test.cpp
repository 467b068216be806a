#include "harness/config/target.hpp"

#include <gtest/gtest.h>

namespace lockmark::config {
namespace {

using hosts = std::vector<host_port>;

target parsed_target(const std::string& text) {
  const auto read = parse_target(text);
  EXPECT_TRUE(read) << text << ": " << (read ? "" : read.error().sentence);
  return read ? *read : target{};
}

// Every form in the command line's documentation, with its default port.
TEST(target, reads_every_form) {
  EXPECT_EQ(parsed_target("redis://h"), (target{"redis", "", "", {{"h", 6379}}, "", {}}));
  EXPECT_EQ(parsed_target("redis://u:p@h:1/2"), (target{"redis", "u", "p", {{"h", 1}}, "2", {}}));
  EXPECT_EQ(parsed_target("rediss://:p@h").password, "p");
  EXPECT_TRUE(parsed_target("rediss://:p@h").tls.on);
  EXPECT_EQ(parsed_target("redis+sentinel://a,b:5,c/main"),
            (target{"redis+sentinel", "", "", {{"a", 26379}, {"b", 5}, {"c", 26379}}, "main", {}}));
  EXPECT_EQ(parsed_target("redis+cluster://a,b").hosts, (hosts{{"a", 6379}, {"b", 6379}}));
  EXPECT_EQ(parsed_target("redis+independent://u:p@a,b,c,d,e").hosts.size(), 5u);
  EXPECT_EQ(parsed_target("zookeeper://a,b/x/y"),
            (target{"zookeeper", "", "", {{"a", 2181}, {"b", 2181}}, "/x/y", {}}));
  EXPECT_EQ(parsed_target("zookeeper://a/").path, "");
  EXPECT_EQ(parsed_target("mysql://root@127.0.0.1:3307/test"),
            (target{"mysql", "root", "", {{"127.0.0.1", 3307}}, "test", {}}));
  EXPECT_EQ(parsed_target("postgresql://h").hosts, (hosts{{"h", 5432}}));
  EXPECT_TRUE(parsed_target("postgres://u@a,b:2/d?sslmode=require").tls.on);
  EXPECT_EQ(parsed_target("memory:"), (target{"memory", "", "", {}, "", {}}));
  EXPECT_EQ(parsed_target("local:redis"), (target{"local", "", "", {}, "redis", {}}));
  EXPECT_EQ(parsed_target("local:redis@8.0"), (target{"local", "", "", {}, "redis@8.0", {}}));
}

TEST(target, decodes_its_parts) {
  const target t = parsed_target("mysql://a%40b:p%3A%2f%25@h/d%20b?tls=yes&ca=%26");
  EXPECT_EQ(t.user, "a@b");
  EXPECT_EQ(t.password, "p:/%");
  EXPECT_EQ(t.path, "d b");
  EXPECT_EQ(t.query, (std::map<std::string, std::string>{{"tls", "yes"}, {"ca", "&"}}));
  EXPECT_EQ(parsed_target("memory:?delay=1ms").query.at("delay"), "1ms");
  EXPECT_EQ(parsed_target("redis://u:p@ss:word@h").password, "p@ss:word");
}

TEST(target, reads_ipv6_in_brackets) {
  EXPECT_EQ(parsed_target("redis://[::1]").hosts, (hosts{{"::1", 6379}}));
  EXPECT_EQ(parsed_target("zookeeper://[fe80::1%eth0]:5,[::2]").hosts,
            (hosts{{"fe80::1%eth0", 5}, {"::2", 2181}}));
}

// One clear sentence each.
TEST(target, says_what_is_wrong) {
  const std::string schemes =
      "redis, redis+sentinel, redis+cluster, redis+clusters, redis+independent, zookeeper, etcd, "
      "mysql, mysql+galera, postgres, postgresql, memory, local, exec; with TLS: rediss, "
      "rediss+sentinel, rediss+cluster, rediss+clusters, rediss+independent";
  const std::string no_target =
      "is no target: expected SCHEME://HOST, memory: or local:NAME with one of the schemes " +
      schemes;
  const std::string redis_form = "expected redis://[user:pass@]host[:port][/db]";
  const std::pair<const char*, std::string> cases[] = {
      {"", no_target},
      {"redis", no_target},
      {"://h", no_target},
      {"consul://h", "has an unknown scheme; the known ones are " + schemes},
      {"redis:h", "has no '//' after redis:; " + redis_form},
      {"redis://", "has no name for host 1; " + redis_form},
      {"redis://:6379", "has no name for host 1; " + redis_form},
      {"redis://a,b", "has several hosts; " + redis_form},
      {"redis://h/x", "has a wrong path; " + redis_form},
      {"redis://h/123456", "has a wrong path; " + redis_form},
      {"redis://h o", "has a blank, a '#' or a control character; write it as %XX"},
      {"redis://h/1#x", "has a blank, a '#' or a control character; write it as %XX"},
      {"redis://h!", "has a character in host 1 that no host name has"},
      {"redis://[::1", "has no ']' after the address of host 1"},
      {"redis://[a%b]", "has no IPv6 address in the brackets of host 1"},
      {"redis://[::1]6379", "has no port from 1 to 65535 after the ':' of host 1"},
      {"redis://::1", "has no name for host 1; expected redis://[user:pass@]host[:port][/db]"},
      {"redis://fe80::1",
       "has no port from 1 to 65535 after the ':' of host 1 (an IPv6 address stands in brackets)"},
      {"zookeeper://a,b:0",
       "has no port from 1 to 65535 after the ':' of host 2 (an IPv6 address stands in brackets)"},
      {"zookeeper://a,b:65536",
       "has no port from 1 to 65535 after the ':' of host 2 (an IPv6 address stands in brackets)"},
      {"zookeeper://a,,b", "has no name for host 2; expected zookeeper://h1,h2,h3[/chroot]"},
      {"zookeeper://a//x", "has a wrong path; expected zookeeper://h1,h2,h3[/chroot]"},
      {"zookeeper://a/x/", "has a wrong path; expected zookeeper://h1,h2,h3[/chroot]"},
      {"redis+sentinel://a", "has a wrong path; expected redis+sentinel://h1,h2,h3/NAME"},
      {"redis+cluster://a/1", "has a wrong path; expected redis+cluster://h1,h2"},
      {"mysql://h/a/b", "has a wrong path; expected mysql://[user:pass@]host[:port][/db]"},
      {"mysql://h/%zz", "has a '%' in its path that is not followed by two hexadecimal digits"},
      {"mysql://h/%0", "has a '%' in its path that is not followed by two hexadecimal digits"},
      {"mysql://h/?x", "has a query that is not ?name=value&name=value"},
      {"mysql://h/?x=1&x=2", "has the same name twice in its query"},
      {"memory://h", "has something after memory:; expected memory:"},
      {"local:",
       "has no name of letters, digits, '-' and '_', with or without @VERSION; expected "
       "local:NAME"},
      {"local:a/b",
       "has no name of letters, digits, '-' and '_', with or without @VERSION; expected "
       "local:NAME"},
  };
  for (const auto& [text, sentence] : cases) {
    const auto read = parse_target(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().sentence, sentence) << text;
  }
}

// No error shows a password, however malformed the URL around it.
TEST(target, errors_never_show_the_password) {
  for (const char* text : {"redis://u:hunter2@",
                           "redis://u:hunter2@h:x",
                           "redis://u:hunter2@a,b",
                           "redis://u:hunter2",
                           "redis://u:/hunter2@h",
                           "redis://u:?hunter2@h",
                           "redis://u:#hunter2@h",
                           "redis://u:hunter2%@h",
                           "redis://u:hun[ter2@[h",
                           "hunter2@h",
                           "u:hunter2@h",
                           "hunter2:@h",
                           "consul://u:hunter2@h",
                           "redis:u:hunter2@h",
                           "redis://u:hunter2@h/x",
                           "redis://u@hunter2!",
                           "local:u:hunter2@h",
                           "memory:hunter2",
                           "redis://h?password=hunter2&password=hunter2",
                           "redis://h/hunter2"}) {
    const auto read = parse_target(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().sentence.find("hunter2"), std::string::npos) << read.error().sentence;
    EXPECT_EQ(read.error().sentence.find("hun["), std::string::npos) << read.error().sentence;
  }
}

// The redacted form shows everything but the secrets, and is again a URL.
TEST(target, is_shown_without_secrets) {
  const std::pair<const char*, const char*> cases[] = {
      {"redis://u:hunter2@h/2", "redis://u:***@h:6379/2"},
      {"redis://:hunter2@[::1]", "redis://:***@[::1]:6379"},
      {"mysql://root@h:1/d%20b", "mysql://root@h:1/d%20b"},
      {"zookeeper://a,b/x/y", "zookeeper://a:2181,b:2181/x/y"},
      {"redis+sentinel://a/main?sentinel-user=u&nat=a:1>b:2",
       "redis+sentinel://a:26379/main?nat=a%3A1%3Eb%3A2&sentinel-user=u"},
      {"memory:?sentinelPassword=hunter2", "memory:?sentinelPassword=***"},
      {"mysql://a%40b:hunter2@h?tls=yes", "mysql://a%40b:***@h:3306?tls=yes"},
      {"exec:/usr/bin/java -jar x.jar --pw hunter2", "exec:java ***"},
      {"exec:my_lock", "exec:my_lock"},
      {"exec://=:hunter2@@..", "exec:***"},
      {"memory:?a://u:hunter2@h=x", "memory:?***=x"},
      {"memory:?a=b://u:hunter2@h", "memory:?a=***"},
      {"redis://u%3Ahunter2@h", "redis://u:***@h:6379"},
      {"redis://u:hunter2@x:hunter2@h", "redis://u:***@h:6379"},
      {"redis+cluster://a,u:hunter2@h,b", "redis+cluster://a%2Cu:***@h:6379,b:6379"},
      {"redis://hunter2:hunter2@h", "redis://***:***@h:6379"},
      {"redis://:hunter2@hunter2.example", "redis://:***@***"},
      {"mysql://u:%26pw%3f@h/x%26pw%3f", "mysql://u:***@h:3306/***"},
      {"memory:", "memory:"},
      {"local:redis", "local:redis"},
      {"local:redis@8.0", "local:redis@8.0"},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(parsed_target(text).redacted(), shown);
}

}  // namespace
}  // namespace lockmark::config
