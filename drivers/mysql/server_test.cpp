// The MySQL driver against a real server: promises of this backend alone, which the conformance
// suite cannot test.
#include <gmock/gmock.h>

#include <csignal>

#include "drivers/mysql/server_fixture.hpp"

namespace lockmark::mysql {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

task<void> cycle_uncontended(server& s) {
  const auto a = co_await s.open(1);
  const traffic before = a->sent();
  for (int i = 0; i < 10; ++i) {
    const auto got = co_await a->acquire(s.ask(0, enough));
    EXPECT_TRUE(got.done());
    const auto freed = co_await a->release(s.ask(0, enough));
    EXPECT_TRUE(freed.done());
  }
  EXPECT_EQ(a->sent().commands - before.commands, 20U);
  EXPECT_EQ(a->sent().round_trips - before.round_trips, 20U);
  EXPECT_GT(a->sent().bytes_in, before.bytes_in);
  EXPECT_GT(a->sent().bytes_out, before.bytes_out);
  const std::string left = co_await s.transactions("COUNT(*)");
  EXPECT_EQ(left, "0");
  co_await a->close();
}

// An undisturbed cycle is a SELECT and a COMMIT.
TEST_F(server, an_uncontended_cycle_is_two_commands) {
  play(cycle_uncontended);
}

task<void> wait_in_vain(server& s) {
  const auto holder = co_await s.open(1);
  const auto waiter = co_await s.open(1);
  const auto held = co_await holder->acquire(s.ask(0, enough));
  EXPECT_TRUE(held.done());
  for (const duration d : {650ms, 1000ms, 1300ms}) {
    const time_point start = s.l.now();
    const traffic before = waiter->sent();
    const auto got = co_await waiter->acquire(s.ask(0, d));
    EXPECT_TRUE(got.refused(refusal::deadline));
    EXPECT_GE(s.l.now() - start, d - 5ms);  // the server counts whole seconds in ticks of 4 ms
    const bool fraction = d % 1s != 0s;
    if (fraction) {
      EXPECT_EQ(waiter->sent().commands - before.commands, 3U) << "SELECT, KILL, ROLLBACK";
    }
    const std::string open = co_await s.transactions("COUNT(*)");
    EXPECT_EQ(open, "1") << "after " << d.count();
  }
  EXPECT_EQ(waiter->sent().reconnects, 0U);
  const auto freed = co_await holder->release(s.ask(0, enough));
  EXPECT_TRUE(freed.done());
  const std::string open = co_await s.transactions("COUNT(*)");
  EXPECT_EQ(open, "0");
  const auto got = co_await waiter->acquire(s.ask(0, enough));
  EXPECT_TRUE(got.done());
  co_await holder->close();
  co_await waiter->close();
}

// A wait that ends at its deadline is precise below a second, and leaves neither a lock nor an open
// transaction; its connection stays in use.
TEST_F(server, a_wait_in_vain_leaves_nothing) {
  play(wait_in_vain);
}

task<void> wait_whole_seconds(server& s) {
  const auto holder = co_await s.open(1);
  const auto waiter = co_await s.open(1);
  const auto held = co_await holder->acquire(s.ask(0, enough));
  EXPECT_TRUE(held.done());
  std::uint64_t commands = 0;
  for (int n = 0; n < 10 && commands != 2; ++n) {  // a KILL is right if the server is 10 ms late
    const traffic before = waiter->sent();
    const auto got = co_await waiter->acquire(s.ask(0, 995ms));
    EXPECT_TRUE(got.refused(refusal::deadline));
    commands = waiter->sent().commands - before.commands;
  }
  EXPECT_EQ(commands, 2U);  // SELECT, ROLLBACK
  co_await holder->close();
  co_await waiter->close();
}

// MariaDB itself ends a wait of (almost) whole seconds: no KILL is sent.
TEST_F(server, a_wait_of_whole_seconds_needs_no_kill) {
  play(wait_whole_seconds);
}

task<void> wait_and_expect_deadline(server& s, session& waiter, std::uint32_t client) {
  const auto got = co_await waiter.acquire(s.ask(0, 700ms, client));
  EXPECT_TRUE(got.refused(refusal::deadline)) << client;
}

task<void> wait_in_a_crowd(server& s) {
  const auto holder = co_await s.open(1);
  const auto waiters = co_await s.open(40);
  const auto held = co_await holder->acquire(s.ask(0, enough));
  EXPECT_TRUE(held.done());
  scope crowd{s.l};
  for (std::uint32_t i = 0; i < 40; ++i) crowd.spawn(wait_and_expect_deadline(s, *waiters, i));
  co_await crowd.join();
  const std::string open = co_await s.transactions("COUNT(*)");
  EXPECT_EQ(open, "1");
  co_await holder->close();
  co_await waiters->close();
}

// Many waits of one session that end together share one control connection.
TEST_F(server, a_crowd_gives_up_together) {
  play(wait_in_a_crowd);
}

task<void> lose_the_connection(server& s) {
  const auto holder = co_await s.open(1);
  const auto other = co_await s.open(1);
  const auto held = co_await holder->acquire(s.ask(0, enough));
  EXPECT_TRUE(held.done());
  EXPECT_TRUE(holder->alive());
  const std::string id = co_await s.transactions("trx_mysql_thread_id");
  co_await must(s.admin, "kill", "KILL CONNECTION " + id, s.in(enough));
  const auto got = co_await other->acquire(s.ask(0, enough));
  EXPECT_TRUE(got.done());
  EXPECT_FALSE(holder->alive());
  const auto freed = co_await holder->release(s.ask(0, enough));
  EXPECT_TRUE(freed.refused(refusal::not_owner));
  EXPECT_FALSE(holder->alive());
  const auto given = co_await other->release(s.ask(0, enough));
  EXPECT_TRUE(given.done());
  const auto again = co_await holder->acquire(s.ask(0, enough));
  EXPECT_TRUE(again.done());
  EXPECT_TRUE(holder->alive());
  EXPECT_EQ(holder->sent().reconnects, 1U);
  co_await holder->close();
  co_await other->close();
}

// A killed connection frees its row; its owner learns of it, and reconnects at its next acquire.
TEST_F(server, a_lost_connection_frees_the_row) {
  play(lose_the_connection);
}

task<void> hold_two_keys(server& s) {
  const auto a = co_await s.open(1);
  const auto b = co_await s.open(1);
  for (const std::uint32_t key : {2U, 3U}) {  // differ in case only, and need quoting
    const auto got = co_await a->acquire(s.ask(key, enough));
    EXPECT_TRUE(got.done());
  }
  const auto freed = co_await a->release(s.ask(2, enough));
  EXPECT_TRUE(freed.done());
  const auto got = co_await b->acquire(s.ask(2, enough));
  EXPECT_TRUE(got.done());
  const auto busy = co_await b->acquire(s.ask(3, 1s));
  EXPECT_TRUE(busy.refused(refusal::deadline));
  co_await a->close();
  co_await b->close();
}

// A client that holds two keys and gives up one still holds the other.
TEST_F(server, keys_of_one_client_are_independent) {
  play(hold_two_keys);
}

task<void> wipe_under_a_hold(server& s) {
  const auto a = co_await s.open(1);
  const auto held = co_await a->acquire(s.ask(0, enough));
  EXPECT_TRUE(held.done());
  const time_point start = s.l.now();
  constexpr duration servers_own_limit = 24h;
  std::string said;
  try {
    co_await s.locks->wipe(s.l, s.in(1500ms));
  } catch (const no_server& e) {
    said = e.what();
  }
  EXPECT_THAT(said, HasSubstr("cannot drop table lockmark_" + s.run.run));
  EXPECT_LT(s.l.now() - start, servers_own_limit / 1000);
  co_await a->close();
}

// A wipe while a row is held ends in time, with a sentence; a later one succeeds.
TEST_F(server, wiping_does_not_hang_on_a_hold) {
  play(wipe_under_a_hold);
}

task<void> stall_from_now_on(server& s, duration length) {
  signal_server(SIGSTOP);
  co_await s.l.sleep_for(length);
  signal_server(SIGCONT);
}

task<void> wait_in_vain_on_a_stalling_server(server& s) {
  const auto holder = co_await s.open(1);
  const auto waiter = co_await s.open(1);
  const auto held = co_await holder->acquire(s.ask(0, enough));
  EXPECT_TRUE(held.done());
  const request r = s.ask(0, 300ms);
  EXPECT_GT(r.grace, 4s);
  scope beside{s.l};
  beside.spawn(stall_from_now_on(s, 600ms));
  const auto got = co_await waiter->acquire(r);
  co_await beside.join();
  EXPECT_TRUE(got.refused(refusal::deadline));
  EXPECT_EQ(waiter->sent().reconnects, 0U);
  co_await holder->close();
  co_await waiter->close();
}

// A server that is slow to end the wait gets the request's grace: nothing is in doubt yet.
TEST_F(server, grace_holds_for_the_end_of_a_wait) {
  play(wait_in_vain_on_a_stalling_server);
}

struct race {
  time_point end;
  int holders = 0;
  int granted = 0;
  int refused = 0;
  int wrong = 0;  // overlaps, doubts, failed releases
};

task<void> race_on(server& s, session& in, std::uint32_t client, race& r) {
  while (s.l.now() < r.end && (r.granted <= 100 || r.refused <= 100)) {
    const auto got = co_await in.acquire(s.ask(0, 3ms, client));
    if (!got.done()) {
      // A try that begins after its 3 ms, on a busy machine, asks nobody.
      const bool late = got.refused(refusal::deadline) || got.refused(refusal::unavailable);
      r.refused += late;
      r.wrong += !late;
      continue;
    }
    ++r.granted;
    r.wrong += r.holders++ > 0;
    co_await s.l.sleep_for(1ms);
    --r.holders;
    const auto freed = co_await in.release(s.ask(0, enough, client));
    r.wrong += !freed.done();
  }
}

task<void> grants_race_deadlines(server& s) {
  const auto a = co_await s.open(4);
  const auto b = co_await s.open(4);
  race r{.end = s.in(enough)};
  scope racers{s.l};
  for (std::uint32_t i = 0; i < 8; ++i) racers.spawn(race_on(s, i < 4 ? *a : *b, i % 4, r));
  co_await racers.join();
  EXPECT_GT(r.granted, 50);
  EXPECT_GT(r.refused, 50);
  EXPECT_EQ(r.wrong, 0);
  EXPECT_EQ(a->sent().reconnects + b->sent().reconnects, 0U);
  const std::string open = co_await s.transactions("COUNT(*)");
  EXPECT_EQ(open, "0");
  co_await a->close();
  co_await b->close();
}

// Deadlines that coincide with grants: a late KILL never hits the next statement, and a late grant
// is given back.
TEST_F(server, grants_that_race_with_deadlines) {
  play(grants_race_deadlines);
}

task<void> cut_a_slow_statement(server& s) {
  connection c{s.l, s.unused};
  co_await connect_or_throw(c, s.where, s.in(enough));
  const time_point start = s.l.now();
  const answer a = co_await c.query("SELECT SLEEP(10)", s.in(50ms));
  EXPECT_EQ(a.unknown, doubt::deadline);
  EXPECT_LT(s.l.now() - start, 5s);
  EXPECT_FALSE(c.connected());
  co_await connect_or_throw(c, s.where, s.in(enough));
  const answer b = co_await c.query("SELECT NULL, 'x', REPEAT('y', 200000)", s.in(enough));
  EXPECT_TRUE(b.done());
  EXPECT_FALSE(b.at(0, 3).cell(0).has_value());
  EXPECT_EQ(b.at(0, 3).text(1), "x");
  EXPECT_EQ(b.at(0, 3).text(2).size(), 200000U);
  const answer wrong = co_await c.query("SELEKT", s.in(enough));
  EXPECT_EQ(wrong.error, 1064U);
  EXPECT_TRUE(c.connected());
}

// A statement that outlasts its deadline costs the connection at once; a failing one does not.
TEST_F(server, a_deadline_cuts_the_connection) {
  play(cut_a_slow_statement);
}

}  // namespace
}  // namespace lockmark::mysql
