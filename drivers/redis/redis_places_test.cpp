// Locks over five independent masters, of which some are dead.
#include <gtest/gtest.h>

#include <functional>

#include "deploy/local/cluster.hpp"
#include "deploy/local/versions.hpp"
#include "drivers/redis/slot.hpp"
#include "drivers/redis/test_servers.hpp"

namespace lockmark::redis {
namespace {

struct five_masters {
  static constexpr const char* topology = "redis-independent";
};

struct redis_places : servers_test<five_masters> {
  void TearDown() override { revive(); }
  void revive() {
    for (const std::size_t n : std::exchange(dead_, {})) {
      servers->restart(servers->servers()[n].name);
    }
  }
  void kill(std::size_t n) {
    servers->kill(servers->servers()[n].name, SIGKILL);
    dead_.push_back(n);
  }
  // The number of live servers that have the key.
  std::size_t holders_of_a() const {
    std::size_t count = 0;
    for (std::size_t n = 0; n < 5; ++n) {
      if (std::ranges::find(dead_, n) != dead_.end()) continue;
      if (redis_cli(url_of(n), "EXISTS lockmark:test:a").at(0) == "1") ++count;
    }
    return count;
  }

  std::vector<std::size_t> dead_;
};

const option_values patient{{"node_timeout", "500ms"}};

std::unique_ptr<driver> driver_of_five(const lock_kind& k) {
  return driver_for(k, redis_places::url(), k.name == "redis/redlock" ? patient : option_values{});
}

task<std::unique_ptr<session>> prepare_and_open(loop& l, driver& d) {
  co_await d.prepare(l, l.now() + 5s);
  const instance who{.id = "inst", .clients = 2};
  co_return co_await d.open(l, who, l.now() + 5s);
}

task<void> close_and_wipe(loop& l, driver& d, session& s) {
  co_await s.close();
  co_await d.wipe(l, l.now() + 5s);
}

task<void> cycle(loop& l, session& s) {
  const auto got = co_await s.acquire(by(l, 0));
  EXPECT_TRUE(got.done());
  const auto late = co_await s.acquire(by(l, 1, 100ms));
  EXPECT_TRUE(late.refused());
  const auto more = co_await s.renew(by(l, 0));
  EXPECT_TRUE(more.done());
  const auto given = co_await s.release(by(l, 0));
  EXPECT_TRUE(given.done());
}

task<void> lose_two(redis_places& on, driver& d) {
  const auto before = co_await prepare_and_open(on.l, d);
  on.kill(1);
  on.kill(3);
  // The first client to use a connection after its server's death is in doubt about that server.
  co_await cycle(on.l, *before);
  const auto after = co_await prepare_and_open(on.l, d);
  co_await cycle(on.l, *after);
  EXPECT_EQ(on.holders_of_a(), 0U);
  co_await before->close();
  co_await close_and_wipe(on.l, d, *after);
  on.revive();
}

// Two of five dead: everything continues, also for a new session. The dead come back empty.
TEST_F(redis_places, a_minority_may_be_dead) {
  for (const auto& k : {redlock(), redisson_red()}) {
    SCOPED_TRACE(k.name);
    const auto d = driver_of_five(k);
    run_to_end(l, lose_two(*this, *d));
  }
}

task<void> fail_to_open(loop& l, driver& d) {
  bool thrown = false;
  try {
    const instance who{.id = "inst"};
    const auto s = co_await d.open(l, who, l.now() + 5s);
  } catch (const no_server&) {
    thrown = true;
  }
  EXPECT_TRUE(thrown);
}

task<void> lose_three(redis_places& on, driver& d) {
  const auto s = co_await prepare_and_open(on.l, d);
  for (const std::size_t n : {0, 2, 4}) on.kill(n);
  for (int i = 0; i < 2; ++i) {
    const auto got = co_await s->acquire(by(on.l, 0, 300ms));
    EXPECT_FALSE(got.done());
    EXPECT_FALSE(got.refused(refusal::busy));
  }
  EXPECT_EQ(on.holders_of_a(), 0U);
  co_await fail_to_open(on.l, d);
  on.revive();
  co_await cycle(on.l, *s);
  co_await close_and_wipe(on.l, d, *s);
}

// Three of five dead: nothing is granted, the keys taken on the other two are given back, and no
// session can begin.
TEST_F(redis_places, a_dead_majority_grants_nothing) {
  for (const auto& k : {redlock(), redisson_red()}) {
    SCOPED_TRACE(k.name);
    const auto d = driver_of_five(k);
    run_to_end(l, lose_three(*this, *d));
  }
}

task<void> meet_a_stranger(redis_places& on, driver& d) {
  const auto s = co_await prepare_and_open(on.l, d);
  for (const std::size_t n : {0, 2, 4}) {
    redis_cli(redis_places::url_of(n), "SET lockmark:test:a stranger");
  }
  const auto got = co_await s->acquire(by(on.l, 0));
  EXPECT_TRUE(got.refused(refusal::busy));
  EXPECT_EQ(on.holders_of_a(), 3U);
  EXPECT_EQ(redis_cli(redis_places::url_of(2), "GET lockmark:test:a").at(0), "stranger");
  co_await close_and_wipe(on.l, d, *s);
  EXPECT_EQ(on.holders_of_a(), 0U) << "wipe";
}

// Three keys are somebody else's: the two that were taken are given back, the others stay.
TEST_F(redis_places, gives_back_what_is_no_majority) {
  const auto d = driver_of_five(redlock());
  run_to_end(l, meet_a_stranger(*this, *d));
}

task<void> hold_and_look(redis_places& on, driver& d, std::function<void()> look) {
  const auto s = co_await prepare_and_open(on.l, d);
  const auto got = co_await s->acquire(by(on.l, 0));
  EXPECT_TRUE(got.done());
  look();
  co_await close_and_wipe(on.l, d, *s);
  EXPECT_EQ(on.holders_of_a(), 0U);
}

// A key lives in the one master chosen by its hash.
TEST_F(redis_places, a_shard_holds_its_keys_alone) {
  const auto d = driver_of_five(sharded());
  const std::function<void()> look = [this] {
    EXPECT_EQ(holders_of_a(), 1U);
    const std::size_t home = shard_of("lockmark:test:a", 5);
    EXPECT_EQ(redis_cli(url_of(home), "EXISTS lockmark:test:a").at(0), "1");
  };
  run_to_end(l, hold_and_look(*this, *d, look));
}

// Each place of an RMultiLock has an RLock with the real lease.
TEST_F(redis_places, a_multi_lock_is_everywhere) {
  const auto d = driver_of_five(redisson_multi());
  const std::function<void()> look = [] {
    for (std::size_t n = 0; n < 5; ++n) {
      EXPECT_EQ(redis_cli(url_of(n), "HGET lockmark:test:a inst:1").at(0), "1");
      const long pttl = std::stol(redis_cli(url_of(n), "PTTL lockmark:test:a").at(0));
      EXPECT_GT(pttl, 20'000);
      EXPECT_LE(pttl, 30'000);
    }
  };
  run_to_end(l, hold_and_look(*this, *d, look));
}

// A lock that lives in one place cannot use five.
TEST_F(redis_places, refuses_what_has_one_place) {
  EXPECT_THROW(driver_for(lua(), url()), usage_error);
}

task<void> describe(loop& l, driver& d, description& about, server_counters& counted) {
  about = co_await d.prepare(l, l.now() + 5s);
  counted = co_await d.counters(l, l.now() + 5s);
}

// Each server is described, and their counters are added.
TEST_F(redis_places, tells_of_each) {
  const auto d = driver_for(redlock(), url());
  description about;
  server_counters counted;
  kill(4);
  run_to_end(l, describe(l, *d, about, counted));
  const std::map<std::string, std::string> said(about.begin(), about.end());
  EXPECT_EQ(said.at("server.1.role"), "master");
  EXPECT_EQ(said.at("server.4.role"), "master");
  EXPECT_EQ(said.at("server.5.reached"), "no");
  EXPECT_GE(counted.at("cmd.info"), 4U);
}

}  // namespace
}  // namespace lockmark::redis
