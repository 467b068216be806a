// Redisson's own features on a real server: wake-ups, queues, renewals.
#include <gtest/gtest.h>

#include "deploy/local/cluster.hpp"
#include "deploy/local/versions.hpp"
#include "drivers/redis/test_servers.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::redis {
namespace {

struct redisson_topology {
  static constexpr const char* topology = "redis";
};
struct redisson_server : servers_test<redisson_topology> {
  static std::string ask(const std::string& command) {
    const auto said = redis_cli(url(), command);
    return said.empty() ? "" : said.at(0);
  }
};

struct room {
  loop& l;
  driver& d;
  std::vector<std::unique_ptr<session>> all{};
};

task<session*> enter(room& where, std::string id, std::uint32_t clients = 4) {
  const instance who{.id = std::move(id), .clients = clients};
  auto opened = co_await where.d.open(where.l, who, where.l.now() + 5s);
  where.all.push_back(std::move(opened));
  co_return where.all.back().get();
}

task<void> leave(room& where) {
  for (const auto& s : where.all) co_await s->close();
  co_await where.d.wipe(where.l, where.l.now() + 5s);
}

task<void> take(loop& l, session& s, std::uint32_t client, std::size_t& granted,
                duration within = 2s) {
  const auto got = co_await s.acquire(by(l, client, within));
  if (got.done()) ++granted;
}

task<void> until(loop& l, std::function<bool()> is_so) {
  for (int i = 0; i < 2000 && !is_so(); ++i) co_await l.sleep_for(1ms);
  EXPECT_TRUE(is_so());
}

constexpr const char* count_subscribers =
    "PUBSUB NUMSUB 'redisson_rwlock:{lockmark:test:a}' | tail -1";

task<void> writer_leaves(loop& l, driver& writers, driver& readers, int& woken) {
  room writing{l, writers}, reading{l, readers};
  session* const w = co_await enter(writing, "w");
  session* const r = co_await enter(reading, "r");
  const auto held = co_await w->acquire(by(l, 0));
  EXPECT_TRUE(held.done());
  std::size_t granted = 0;
  scope waiters{l};
  for (std::uint32_t i = 0; i < 4; ++i) waiters.spawn(take(l, *r, i, granted));
  co_await until(l,
                 [] { return redis_cli(redisson_server::url(), count_subscribers).at(0) == "1"; });
  co_await l.sleep_for(30ms);  // all have asked again and wait now
  EXPECT_EQ(granted, 0U);
  const auto given = co_await w->release(by(l, 0));
  EXPECT_TRUE(given.done());
  co_await waiters.join();
  EXPECT_EQ(granted, 4U);
  woken = static_cast<int>(r->sent().wakeups);
  const auto kept_out = co_await w->acquire(by(l, 0, 1s));
  EXPECT_TRUE(kept_out.refused(refusal::deadline));
  co_await leave(reading);
  co_await leave(writing);
}

// The release by a writer wakes all readers, also several of one instance, and readers share.
TEST_F(redisson_server, a_writer_wakes_every_reader) {
  const auto writers = driver_for(redisson_write(), url());
  const auto readers = driver_for(redisson_read(), url());
  int woken = 0;
  run_to_end(l, writer_leaves(l, *writers, *readers, woken));
  EXPECT_EQ(woken, 4);
}

task<void> read_twice_and_vanish(loop& l, driver& d) {
  room reading{l, d};
  session* const r = co_await enter(reading, "r");
  for (int i = 0; i < 2; ++i) {
    const auto got = co_await r->acquire(by(l, 0));
    EXPECT_TRUE(got.done());
  }
  EXPECT_EQ(redisson_server::ask("EXISTS '{lockmark:test:a}:r:1:rwlock_timeout:2'"), "1");
  co_await leave(reading);
}

// The run's wipe removes the keys of holds that nobody gave up.
TEST_F(redisson_server, readers_leave_nothing_behind) {
  const auto d = driver_for(redisson_read(), url());
  run_to_end(l, read_twice_and_vanish(l, *d));
  EXPECT_TRUE(keys_of_run(url(), {"test", {}}).empty());
}

task<void> give_up_waiting(loop& l, driver& d) {
  room where{l, d};
  session* const s = co_await enter(where, "s");
  std::size_t granted = 0;
  co_await take(l, *s, 0, granted);
  co_await take(l, *s, 1, granted, 30ms);
  EXPECT_EQ(granted, 1U);
  co_await until(l, [] {
    return redisson_server::ask("EXISTS 'redisson_lock_queue:{lockmark:test:a}'") == "0";
  });
  EXPECT_EQ(redisson_server::ask("EXISTS 'redisson_lock_timeout:{lockmark:test:a}'"), "0");
  co_await leave(where);
}

// A waiter that gives up removes its name from the queue.
TEST_F(redisson_server, fair_waiters_leave_the_queue) {
  const auto d = driver_for(redisson_fair(), url());
  run_to_end(l, give_up_waiting(l, *d));
}

request short_lease(loop& l, std::uint32_t client, std::uint32_t key, duration lease = 300ms) {
  request r = by(l, client, 5s, key);
  r.lease = lease;
  return r;
}

struct watched {
  std::uint64_t renewals = 0;
  std::uint64_t thirds = 0;  // of a lease, while it was held
  bool kept = true;
};

task<void> hold_two(loop& l, driver& d, duration lease, watched& seen) {
  room where{l, d};
  session* const s = co_await enter(where, "s");
  for (std::uint32_t key = 0; key < 2; ++key) {
    const auto got = co_await s->acquire(short_lease(l, 0, key, lease));
    EXPECT_TRUE(got.done());
  }
  const time_point began = l.now();
  const std::uint64_t before = s->sent().commands;
  co_await l.sleep_for(3 * lease);
  seen = {s->sent().commands - before, static_cast<std::uint64_t>((l.now() - began) * 3 / lease)};
  for (std::uint32_t key = 0; key < 2; ++key) {
    const auto given = co_await s->release(short_lease(l, 0, key, lease));
    seen.kept = seen.kept && given.done();
  }
  const std::uint64_t after = s->sent().commands;
  co_await l.sleep_for(250ms);
  EXPECT_EQ(s->sent().commands, after) << "renewed what nobody holds";
  co_await leave(where);
}

// On a machine that stalls for the length of a lease, only a longer one can be kept.
watched held_by(driver& d, loop& l) {
  watched seen;
  for (duration lease = 300ms; lease < 5s; lease *= 2) {
    run_to_end(l, hold_two(l, d, lease, seen));
    if (seen.kept) return seen;
  }
  ADD_FAILURE() << "every lease ran out";
  return seen;
}

// Held beyond its lease by at least one renewal per lease and at most one per third. Redisson
// renews all locks taken at about the same time by one command; most libraries use one command for
// each.
TEST_F(redisson_server, watchdogs_renew) {
  for (const lock_kind& kind : {redisson(), redisson_spin(), redisson_fenced(), redisson_fair(),
                                redisson_read(), redisson_write(), redisson_multi()}) {
    SCOPED_TRACE(kind.name);
    const auto redissons = driver_for(kind, url(), {{"watchdog", "true"}});
    const watched together = held_by(*redissons, l);
    EXPECT_GE(together.renewals, 2U);
    EXPECT_LE(together.renewals, 2 * (together.thirds + 1));
  }
  const auto others = driver_for(lua(), url(), {{"watchdog", "true"}});
  const watched each = held_by(*others, l);
  EXPECT_GE(each.renewals, 4U);
  EXPECT_LE(each.renewals, 2 * (each.thirds + 1));
}

task<void> lose_a_watched_hold(loop& l, driver& d) {
  room where{l, d};
  session* const s = co_await enter(where, "s");
  const auto got = co_await s->acquire(short_lease(l, 0, 0));
  EXPECT_TRUE(got.done());
  redisson_server::ask("DEL lockmark:test:a");
  co_await l.sleep_for(250ms);
  const std::uint64_t before = s->sent().commands;
  co_await l.sleep_for(250ms);
  EXPECT_EQ(s->sent().commands, before);
  const auto late = co_await s->release(short_lease(l, 0, 0));
  EXPECT_TRUE(late.refused(refusal::not_owner));
  co_await leave(where);
}

// A hold that turns out to be gone is no longer renewed; its holder learns of it at its release.
TEST_F(redisson_server, a_watchdog_forgets_what_is_gone) {
  const auto d = driver_for(redisson(), url(), {{"watchdog", "true"}});
  run_to_end(l, lose_a_watched_hold(l, *d));
}

task<void> nest(loop& l, driver& d, std::vector<std::uint64_t>& tokens) {
  room where{l, d};
  session* const s = co_await enter(where, "s");
  for (int i = 0; i < 2; ++i) {
    const auto got = co_await s->acquire(by(l, 0));
    EXPECT_TRUE(got.done());
    tokens.push_back(got.value().token);
  }
  redisson_server::ask("DEL lockmark:test:a");
  const auto again = co_await s->acquire(by(l, 1));
  EXPECT_TRUE(again.done());
  tokens.push_back(again.value().token);
  co_await leave(where);
}

// The counter survives the lock, counts re-entries, and is wiped with the run.
TEST_F(redisson_server, fencing_tokens_never_fall) {
  const auto d = driver_for(redisson_fenced(), url());
  std::vector<std::uint64_t> tokens;
  run_to_end(l, nest(l, *d, tokens));
  EXPECT_EQ(tokens, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_TRUE(keys_of_run(url(), {"test", {}}).empty());
}

}  // namespace
}  // namespace lockmark::redis
