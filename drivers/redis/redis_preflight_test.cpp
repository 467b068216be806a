// The driver's findings on real servers before a run, and the rights that it needs.
#include <gtest/gtest.h>

#include "deploy/local/cluster.hpp"
#include "deploy/local/versions.hpp"
#include "drivers/redis/test_servers.hpp"

namespace lockmark::redis {
namespace {

struct preflight_server {
  static constexpr const char* topology = "redis";
};

using findings = std::vector<finding>;

task<void> look(loop& l, driver& d, demand load, findings& found) {
  co_await d.prepare(l, l.now() + 5s);
  found = co_await d.preflight(l, load, l.now() + 5s);
}

struct redis_preflight_server : servers_test<preflight_server> {
  findings found_by(const lock_kind& k, const std::string& where, demand load = {}) {
    findings found;
    const auto d = driver_for(k, where);
    run_to_end(l, look(l, *d, load, found));
    return found;
  }
};

// No lock complains about a healthy server.
TEST_F(redis_preflight_server, finds_nothing_on_a_good_server) {
  for (const auto& k : kinds()) {
    EXPECT_TRUE(found_by(k, url(), {.instances = 10, .clients = 10}).empty()) << k.name;
  }
}

// A lock with a channel needs one more connection per instance.
TEST_F(redis_preflight_server, counts_the_connections_of_the_run) {
  redis_cli(url(), "CONFIG SET maxclients 30");
  const auto enough = found_by(lua(), url(), {.instances = 5, .clients = 4});
  const auto many = found_by(redisson(), url(), {.instances = 6, .clients = 4});
  redis_cli(url(), "CONFIG SET maxclients 10000");
  EXPECT_TRUE(enough.empty());
  ASSERT_EQ(many.size(), 1U);
  EXPECT_TRUE(many[0].fatal);
  EXPECT_NE(many[0].sentence.find("lets 30 connections in"), std::string::npos);
  EXPECT_NE(many[0].sentence.find("needs 30 more"), std::string::npos);
}

TEST_F(redis_preflight_server, warns_of_a_server_that_evicts) {
  redis_cli(url(), "CONFIG SET maxmemory 100mb");
  redis_cli(url(), "CONFIG SET maxmemory-policy allkeys-lru");
  const auto found = found_by(lua(), url());
  redis_cli(url(), "CONFIG SET maxmemory 0");
  redis_cli(url(), "CONFIG SET maxmemory-policy noeviction");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].fatal);
  EXPECT_NE(found[0].sentence.find("allkeys-lru"), std::string::npos);
}

// A login without the right to run scripts is told so, unless the lock needs none.
TEST_F(redis_preflight_server, names_the_missing_right) {
  redis_cli(url(), "ACL SETUSER u on '>topsecret' '~*' '&*' '+@all' -eval");
  const auto lacking = found_by(lua(), url_as("u:topsecret"));
  const auto content = found_by(setnx(), url_as("u:topsecret"));
  redis_cli(url(), "ACL DELUSER u");
  ASSERT_EQ(lacking.size(), 1U);
  EXPECT_TRUE(lacking[0].fatal);
  EXPECT_NE(lacking[0].sentence.find("refuses EVAL"), std::string::npos) << lacking[0].sentence;
  EXPECT_EQ(lacking[0].sentence.find("topsecret"), std::string::npos);
  EXPECT_TRUE(content.empty());
}

// Keys under another prefix only: no lock could be taken.
TEST_F(redis_preflight_server, names_keys_that_are_out_of_reach) {
  redis_cli(url(), "ACL SETUSER u on '>topsecret' '~other:*' '&*' '+@all'");
  const auto found = found_by(set_nx_px(), url_as("u:topsecret"));
  redis_cli(url(), "ACL DELUSER u");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].fatal);
  EXPECT_NE(found[0].sentence.find("refuses SET"), std::string::npos) << found[0].sentence;
}

task<void> cycle(loop& l, driver& d) {
  const auto soon = l.now() + 5s;
  co_await d.prepare(l, soon);
  const findings found = co_await d.preflight(l, {}, soon);
  EXPECT_TRUE(found.empty());
  const instance who{.id = "inst", .clients = 2};
  const auto s = co_await d.open(l, who, soon);
  const auto got = co_await s->acquire(by(l, 0));
  EXPECT_TRUE(got.done());
  const auto late = co_await s->acquire(by(l, 1, 50ms));
  EXPECT_TRUE(late.refused());
  const auto given = co_await s->release(by(l, 0));
  EXPECT_TRUE(given.done());
  co_await s->close();
  co_await d.wipe(l, soon);
}

// The rights that an administrator has to grant: the run's keys and channels and the locks'
// commands, but neither CONFIG nor anything dangerous. Redisson's names have the run's keys in
// braces.
TEST_F(redis_preflight_server, few_rights_are_enough) {
  redis_cli(url(),
            "ACL SETUSER few on '>p' '~lockmark:*' '~*{lockmark:*' '&redisson_*' -@all "
            "+auth +info +time +del +set +setnx +get +getset +expire +pexpire +pttl +exists "
            "+eval +evalsha '+script|load' +subscribe +unsubscribe +publish +@hash +lindex +lpop "
            "+rpush +lrange +lrem +zscore +zadd +zrem +zrange +zincrby +incr");
  for (const auto& k : kinds()) {
    SCOPED_TRACE(k.name);
    if (k.has.has(feature::shared)) continue;  // nobody keeps a reader out
    const auto d = driver_for(k, url_as("few:p"));
    run_to_end(l, cycle(l, *d));
  }
  redis_cli(url(), "ACL DELUSER few");
}

}  // namespace
}  // namespace lockmark::redis
