// Beyond the conformance suite: lost scripts, Redisson's waiting, refused servers and logins.
#include <gtest/gtest.h>

#include <numeric>

#include "deploy/local/cluster.hpp"
#include "drivers/redis/connection.hpp"
#include "drivers/redis/redis.hpp"
#include "drivers/redis/server_probe.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::redis {
namespace {

using namespace std::chrono_literals;

struct redis_server : testing::Test {
  static void SetUpTestSuite() {
    server = std::make_unique<local::cluster>(local::cluster::start("redis"));
  }
  static void TearDownTestSuite() { server.reset(); }

  std::unique_ptr<driver> make(const lock_kind& k, std::string url = server->target()) {
    driver_setup setup{.target = std::move(url), .run_names = {"wire", {"a"}}, .options = {}};
    for (const auto& o : k.options) setup.options.emplace(o.name, o.preset);
    return k.make(setup);
  }

  static std::unique_ptr<local::cluster> server;
  real_clock clock;
  loop l{clock};
};
std::unique_ptr<local::cluster> redis_server::server;

request by(loop& l, std::uint32_t client, duration within = 20s) {
  return {.key = 0, .client = client, .lease = 30s, .deadline = l.now() + within};
}

task<void> cycle_after_flush(loop& l, driver& d, std::string url) {
  const auto soon = l.now() + 20s;
  co_await d.prepare(l, soon);
  const instance who{.id = "inst"};
  const auto s = co_await d.open(l, who, soon);
  redis_cli(url, "SCRIPT FLUSH");
  const auto got = co_await s->acquire(by(l, 0));
  EXPECT_TRUE(got.done());
  redis_cli(url, "SCRIPT FLUSH");
  const auto given = co_await s->release(by(l, 0));
  EXPECT_TRUE(given.done());
  co_await s->close();
  co_await d.wipe(l, soon);
}

// A server that has lost its script cache gets the text again.
TEST_F(redis_server, scripts_survive_a_flushed_cache) {
  for (const auto& k : kinds()) {
    const auto d = make(k);
    run_to_end(l, cycle_after_flush(l, *d, server->target()));
  }
}

// The test is over when those who get nothing have given up.
task<void> acquire_and_note(loop& l, session& s, std::uint32_t client, int& granted) {
  const auto got = co_await s.acquire(by(l, client, 6s));
  if (got.done()) ++granted;
}

task<void> wait_for(loop& l, int& count, int wanted) {
  for (const auto limit = l.now() + 5s; count < wanted && l.now() < limit;) {
    co_await l.sleep_for(1ms);
  }
  EXPECT_EQ(count, wanted);
}

std::size_t subscribers() {
  const auto said = redis_cli(redis_server::server->target(),
                              "PUBSUB NUMSUB 'redisson_lock__channel:{lockmark:wire:a}'");
  return std::stoul(said.back());
}

task<void> two_subscribe(loop& l) {
  for (const auto limit = l.now() + 3s; subscribers() < 2 && l.now() < limit;) {
    co_await l.sleep_for(1ms);
  }
}

// Three clients of one instance and one of another wait for a held key.
struct waiting_room {
  std::unique_ptr<session> holder, three, one;
  int granted = 0;
};

task<void> fill(loop& l, driver& d, scope& waiters, waiting_room& room) {
  const auto soon = l.now() + 20s;
  co_await d.prepare(l, soon);
  const instance h{.id = "holder"}, t{.id = "three", .clients = 3}, o{.id = "one"};
  room.holder = co_await d.open(l, h, soon);
  room.three = co_await d.open(l, t, soon);
  room.one = co_await d.open(l, o, soon);
  const auto held = co_await room.holder->acquire(by(l, 0));
  EXPECT_TRUE(held.done());
  for (std::uint32_t i = 0; i < 3; ++i) {
    waiters.spawn(acquire_and_note(l, *room.three, i, room.granted));
  }
  waiters.spawn(acquire_and_note(l, *room.one, 0, room.granted));
  co_await two_subscribe(l);
  co_await l.sleep_for(20ms);  // all have asked again and wait now
}

task<void> empty(loop& l, driver& d, waiting_room& room) {
  co_await room.holder->close();
  co_await room.three->close();
  co_await room.one->close();
  co_await d.wipe(l, l.now() + 20s);
}

task<void> count_wakeups(loop& l, driver& d) {
  scope waiters{l};
  waiting_room room;
  co_await fill(l, d, waiters, room);
  EXPECT_EQ(subscribers(), 2U);  // one per instance, not per client
  const auto given = co_await room.holder->release(by(l, 0));
  EXPECT_TRUE(given.done());
  co_await wait_for(l, room.granted, 1);
  co_await l.sleep_for(20ms);
  EXPECT_EQ(room.three->sent().wakeups, 1U);  // one per instance and message
  EXPECT_EQ(room.one->sent().wakeups, 1U);
  EXPECT_EQ(room.granted, 1);
  co_await waiters.join();
  EXPECT_EQ(subscribers(), 0U);
  co_await empty(l, d, room);
}

// A release wakes one waiter of each instance, over one subscription of each.
TEST_F(redis_server, redisson_wakes_one_waiter_per_instance) {
  const auto d = make(redisson());
  run_to_end(l, count_wakeups(l, *d));
}

task<void> lose_subscription(loop& l, driver& d, std::string url) {
  scope waiters{l};
  waiting_room room;
  co_await fill(l, d, waiters, room);
  redis_cli(url, "CLIENT KILL TYPE pubsub");
  co_await two_subscribe(l);
  EXPECT_EQ(subscribers(), 2U);
  const auto given = co_await room.holder->release(by(l, 0));
  EXPECT_TRUE(given.done());
  co_await wait_for(l, room.granted, 1);
  co_await waiters.join();
  EXPECT_GE(room.one->sent().reconnects, 1U);
  co_await empty(l, d, room);
}

// Waiters whose subscription connection was killed subscribe again and are woken.
TEST_F(redis_server, redisson_subscribes_again) {
  const auto d = make(redisson());
  run_to_end(l, lose_subscription(l, *d, server->target()));
}

task<void> ask_a_paused_server(loop& l, target where, std::string url) {
  traffic count;
  connection c{l, where, count};
  co_await c.open(l.now() + 20s);
  redis_cli(url, "CLIENT PAUSE 1000 ALL");
  const auto late = co_await c.command(l.now() + 20ms, "ECHO", "one");
  EXPECT_TRUE(late.in_doubt());
  co_await l.sleep_for(1100ms);  // by now the late reply would have arrived
  const auto next = co_await c.command(l.now() + 20s, "ECHO", "two");
  EXPECT_TRUE(next.done() && next.value().text == "two");
  EXPECT_EQ(count.reconnects, 1U);
}

// A late reply is never taken for the answer to the next command.
TEST_F(redis_server, late_replies_are_thrown_away) {
  const std::string url = server->target();
  run_to_end(l, ask_a_paused_server(l, parse_targets(url).front(), url));
}

task<void> try_prepare(loop& l, driver& d, std::string& why) {
  try {
    co_await d.prepare(l, l.now() + 2s);
  } catch (const std::runtime_error& e) {
    why = e.what();
  }
}

// A replica is refused: its knowledge of locks is old, and it takes no writes.
TEST_F(redis_server, refuses_a_replica) {
  redis_cli(server->target(), "REPLICAOF 127.0.0.1 1");
  std::string why;
  const auto d = make(lua());
  run_to_end(l, try_prepare(l, *d, why));
  redis_cli(server->target(), "REPLICAOF NO ONE");
  EXPECT_NE(why.find("is a replica of 127.0.0.1"), why.npos) << why;
}

// A login without the right to read the configuration is enough; settings are then unknown.
TEST_F(redis_server, works_without_config) {
  redis_cli(server->target(), "ACL SETUSER u on '>p' '~*' '&*' '+@all' -config -client");
  const auto d = make(lua(), "redis://u:p@" + server->target().substr(8));
  std::string why;
  run_to_end(l, try_prepare(l, *d, why));
  redis_cli(server->target(), "ACL DELUSER u");
  EXPECT_EQ(why, "");
}

// A login without the right to lock is told the missing command, without the password.
TEST_F(redis_server, names_the_command_that_is_not_allowed) {
  redis_cli(server->target(), "ACL SETUSER u on '>topsecret' '~*' '&*' '+@all' -script");
  const auto d = make(lua(), "redis://u:topsecret@" + server->target().substr(8));
  std::string why;
  run_to_end(l, try_prepare(l, *d, why));
  redis_cli(server->target(), "ACL DELUSER u");
  EXPECT_NE(why.find("SCRIPT LOAD"), why.npos) << why;
  EXPECT_EQ(why.find("topsecret"), why.npos) << why;
}

}  // namespace
}  // namespace lockmark::redis
