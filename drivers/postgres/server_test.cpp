// The PostgreSQL driver against a real server: promises of this backend alone, which the
// conformance suite cannot test.
#include <gmock/gmock.h>

#include <csignal>

#include "drivers/postgres/server_fixture.hpp"

namespace lockmark::postgres {
namespace {

using testing::HasSubstr;

// What ten undisturbed cycles cost, after a first one that sets the time limit of waits.
task<traffic> ten_cycles(server& s) {
  const auto a = co_await s.open(1);
  traffic before;
  for (int i = 0; i < 11; ++i) {
    const auto got = co_await a->acquire(s.ask(0, enough));
    EXPECT_TRUE(got.done());
    const auto freed = co_await a->release(s.ask(0, enough));
    EXPECT_TRUE(freed.done());
    if (i == 0) before = a->sent();
  }
  traffic spent = a->sent();
  spent -= before;
  EXPECT_GT(spent.bytes_in, 0U);
  EXPECT_GT(spent.bytes_out, 0U);
  EXPECT_EQ(spent.reconnects, 0U);
  const std::string left = co_await s.advisory_locks(true);
  EXPECT_EQ(left, "0");
  const std::string open = co_await s.open_transactions();
  EXPECT_EQ(open, "0");
  co_await a->close();
  co_return spent;
}

task<void> cycle_in_a_session(server& s) {
  const traffic spent = co_await ten_cycles(s);
  EXPECT_EQ(spent.commands, 20U);
  EXPECT_EQ(spent.round_trips, 20U);
}

task<void> cycle_in_a_transaction(server& s) {
  const traffic spent = co_await ten_cycles(s);
  EXPECT_EQ(spent.commands, 30U) << "BEGIN goes along";
  EXPECT_EQ(spent.round_trips, 20U);
}

TEST_F(server, a_cycle_of_a_session_lock_is_two_commands) {
  play(cycle_in_a_session);
}
TEST_F(server, a_cycle_of_a_lease_is_two_commands) {
  use("postgres/lease_row");
  play(cycle_in_a_session);
}
TEST_F(server, a_cycle_of_a_transaction_lock_is_three_commands_in_two_round_trips) {
  use("postgres/advisory_xact");
  play(cycle_in_a_transaction);
}
TEST_F(server, a_cycle_of_a_row_lock_is_three_commands_in_two_round_trips) {
  use("postgres/for_update");
  play(cycle_in_a_transaction);
}

task<void> wait_in_vain(server& s) {
  const auto holder = co_await s.open(1);
  const auto waiter = co_await s.open(1);
  const auto held = co_await holder->acquire(s.ask(0, enough));
  EXPECT_TRUE(held.done());
  for (const duration d : {650ms, 300ms, 1000ms}) {
    const time_point start = s.l.now();
    const auto got = co_await waiter->acquire(s.ask(0, d));
    EXPECT_TRUE(got.refused(refusal::deadline));
    EXPECT_GE(s.l.now() - start, d);
    const std::string waiting = co_await s.advisory_locks(false);
    EXPECT_EQ(waiting, "0");
    const std::string open = co_await s.look(
        "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction (aborted)'");
    EXPECT_EQ(open, "0");
  }
  EXPECT_EQ(waiter->sent().reconnects, 0U);
  const auto freed = co_await holder->release(s.ask(0, enough));
  EXPECT_TRUE(freed.done());
  const auto got = co_await waiter->acquire(s.ask(0, enough));
  EXPECT_TRUE(got.done());
  co_await holder->close();
  co_await waiter->close();
}

// A wait that ends at its deadline is precise, and leaves neither a lock nor an open transaction;
// its connection stays in use.
TEST_F(server, a_wait_in_vain_leaves_nothing) {
  for (const char* lock : {"postgres/advisory", "postgres/advisory_xact", "postgres/for_update"}) {
    use(lock);
    play(wait_in_vain);
    admin.drop();
  }
}

task<void> lose_the_connection(server& s) {
  const auto holder = co_await s.open(1);
  const auto other = co_await s.open(1);
  const auto held = co_await holder->acquire(s.ask(0, enough));
  EXPECT_TRUE(held.done());
  EXPECT_TRUE(holder->alive());
  const std::string ended = co_await s.look(
      "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted");
  EXPECT_EQ(ended, "t");
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

// A session that the server has ended has lost its lock; its owner learns of it, and reconnects at
// its next acquire.
TEST_F(server, a_lost_connection_frees_the_lock) {
  play(lose_the_connection);
  admin.drop();
  use("postgres/advisory_xact");
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
  const auto busy = co_await b->acquire(s.ask(3, 300ms));
  EXPECT_FALSE(busy.done());
  EXPECT_FALSE(busy.in_doubt());
  const auto given = co_await a->release(s.ask(3, enough));
  EXPECT_TRUE(given.done());
  const auto given_too = co_await b->release(s.ask(2, enough));
  EXPECT_TRUE(given_too.done());
  co_await a->close();
  co_await b->close();
}

// A client that holds two keys and gives up one still holds the other.
TEST_F(server, keys_of_one_client_are_independent) {
  for (const lock_kind& kind : kinds()) {
    if (kind.has.has(feature::shared)) continue;
    SCOPED_TRACE(kind.name);
    use(kind.name);
    play(hold_two_keys);
    admin.drop();
  }
}

task<void> wipe_under_a_hold(server& s) {
  const auto a = co_await s.open(1);
  const auto held = co_await a->acquire(s.ask(0, enough));
  EXPECT_TRUE(held.done());
  std::string said;
  try {
    co_await s.locks->wipe(s.l, s.in(1500ms));
  } catch (const no_server& e) {
    said = e.what();
  }
  EXPECT_THAT(said, HasSubstr("cannot drop table lockmark_" + s.run.run));
  const auto freed = co_await a->release(s.ask(0, enough));
  EXPECT_TRUE(freed.done()) << "a failed wipe is undone";
  co_await a->close();
}

// A wipe while a row is held ends in time, with a sentence; a later one succeeds.
TEST_F(server, wiping_does_not_hang_on_a_hold) {
  use("postgres/for_update");
  play(wipe_under_a_hold);
}

task<void> wipe_what_a_vanished_client_holds(server& s) {
  const auto a = co_await s.open(1);
  const auto held = co_await a->acquire(s.ask(0, enough));
  EXPECT_TRUE(held.done());
  co_await s.locks->wipe(s.l, s.in(enough));
  const std::string left = co_await s.advisory_locks(true);
  EXPECT_EQ(left, "0");
  co_await a->close();
}

// The sessions that hold the run's advisory locks are ended, for their clients may be gone without
// a word.
TEST_F(server, wiping_ends_the_sessions_that_hold) {
  play(wipe_what_a_vanished_client_holds);
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
  const time_point start = s.l.now();
  const auto got = co_await waiter->acquire(r);
  EXPECT_GT(s.l.now() - start, 500ms) << "all processes of the server stood still";
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
  const std::string left = co_await s.advisory_locks(true);
  EXPECT_EQ(left, "0");
  co_await a->close();
  co_await b->close();
}

// Deadlines that coincide with grants leave neither a lock nor a doubt. PostgreSQL may report the
// end of a wait after it has granted the lock to a session, which has it then.
TEST_F(server, grants_that_race_with_deadlines) {
  for (const char* lock : {"postgres/advisory", "postgres/advisory_xact"}) {
    use(lock);
    play(grants_race_deadlines);
    admin.drop();
  }
}

task<void> cut_a_slow_statement(server& s) {
  connection c{s.l, s.unused};
  co_await connect_or_throw(c, s.where, s.in(enough));
  const time_point start = s.l.now();
  const answer a = co_await c.query("SELECT pg_sleep(10)", s.in(50ms));
  EXPECT_EQ(a.unknown, doubt::deadline);
  EXPECT_LT(s.l.now() - start, 5s);
  EXPECT_FALSE(c.connected());
  co_await connect_or_throw(c, s.where, s.in(enough));
  const answer b = co_await c.query("SELECT NULL, 'x', repeat('y', 200000)", s.in(enough));
  EXPECT_TRUE(b.done());
  EXPECT_FALSE(b.at(0, 3).cell(0).has_value());
  EXPECT_EQ(b.at(0, 3).text(1), "x");
  EXPECT_EQ(b.at(0, 3).text(2).size(), 200000U);
  const answer wrong = co_await c.query("SELEKT", s.in(enough));
  EXPECT_EQ(wrong.sqlstate, "42601");
  EXPECT_TRUE(c.connected());
}

// A statement that outlasts its deadline costs the connection at once; a failing one does not.
TEST_F(server, a_deadline_cuts_the_connection) {
  play(cut_a_slow_statement);
}

task<void> see_the_server_restart(server& s) {
  const auto a = co_await s.open(2);
  const auto held = co_await a->acquire(s.ask(0, enough));
  EXPECT_TRUE(held.done());
  restart_server();
  const auto late = co_await a->release(s.ask(0, enough));
  EXPECT_FALSE(late.done());
  auto got = co_await a->acquire(s.ask(0, enough));
  for (const time_point limit = s.in(enough); !got.done() && s.l.now() < limit;) {
    co_await s.l.sleep_for(10ms);
    got = co_await a->acquire(s.ask(0, enough));
  }
  EXPECT_TRUE(got.done());
  co_await a->close();
  s.admin.drop();
  co_await connect_or_throw(s.admin, s.where, s.in(enough));
}

// A killed server has forgotten its advisory locks when it is back, and can be back at once.
TEST_F(server, a_restart_forgets_advisory_locks) {
  play(see_the_server_restart);
}

}  // namespace
}  // namespace lockmark::postgres
