// URLs that lead through proxies.
#include "deploy/inject/detour.hpp"

#include <gtest/gtest.h>

namespace lockmark::inject {
namespace {

const detours ways{{{"a", 1}, {"127.0.0.1", 11}}, {{"b", 2}, {"127.0.0.1", 12}}};

// Hosts are replaced; everything else stays as written.
TEST(detour, leads_to_other_hosts) {
  EXPECT_EQ(url_by("redis://a:1", ways), "redis://127.0.0.1:11");
  EXPECT_EQ(url_by("mysql://me:p%40ss@a:1,b:2,c:3/db?tls=yes&verify=no", ways),
            "mysql://me:p%40ss@127.0.0.1:11,127.0.0.1:12,c:3/db?tls=yes&verify=no");
  EXPECT_EQ(url_by("zookeeper://a:1,b:2/x/y", ways), "zookeeper://127.0.0.1:11,127.0.0.1:12/x/y");
}

// A server announced by others is translated, even if a nat already renamed it.
TEST(detour, translates_what_servers_tell) {
  EXPECT_EQ(url_by("redis+cluster://a:1", ways),
            "redis+cluster://127.0.0.1:11?nat=a:1>127.0.0.1:11,b:2>127.0.0.1:12");
  EXPECT_EQ(url_by("redis+sentinel://s:9/main?nat=x:5>a:1&tls=no", ways),
            "redis+sentinel://s:9/main?tls=no&nat=a:1>127.0.0.1:11,b:2>127.0.0.1:12,"
            "x:5>127.0.0.1:11");
}

}  // namespace
}  // namespace lockmark::inject
