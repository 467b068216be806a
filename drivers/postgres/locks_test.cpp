// The locks on PostgreSQL against a real server: the properties of single locks.
#include <gmock/gmock.h>

#include "drivers/postgres/server_fixture.hpp"
#include "drivers/postgres/tables.hpp"

namespace lockmark::postgres {
namespace {

task<void> share_with_readers(server& s) {
  const auto readers = s.make(target(), "postgres/advisory_shared");
  const auto writer = co_await s.open(2);
  instance who{.id = "r", .number = 9, .clients = 3, .session_timeout = {}};
  const auto reader = co_await readers->open(s.l, who, s.in(enough));
  for (const std::uint32_t client : {0U, 1U}) {
    const auto got = co_await reader->acquire(s.ask(0, enough, client));
    EXPECT_TRUE(got.done());
  }
  const auto kept_out = co_await writer->acquire(s.ask(0, 200ms));
  EXPECT_TRUE(kept_out.refused(refusal::deadline));
  const auto third = co_await reader->acquire(s.ask(0, enough, 2));
  EXPECT_TRUE(third.done()) << "a writer that has given up is in nobody's way";
  co_await reader->close();
  const auto got = co_await writer->acquire(s.ask(0, enough));
  EXPECT_TRUE(got.done());
  co_await writer->close();
}

// The exclusive lock and the shared one are halves of one: both names lead to the same number.
TEST_F(server, advisory_locks_have_readers) {
  play(share_with_readers);
}

task<void> meet_another_application(server& s) {
  const std::string id = std::to_string(advisory_id(s.run.run, s.run.keys[0]));
  const std::string taken = co_await s.look("SELECT pg_try_advisory_lock(" + id + ")");
  EXPECT_EQ(taken, "t");
  const auto a = co_await s.open(1);
  const auto kept_out = co_await a->acquire(s.ask(0, 200ms));
  EXPECT_TRUE(kept_out.refused(refusal::deadline));
  const std::string freed = co_await s.look("SELECT pg_advisory_unlock(" + id + ")");
  EXPECT_EQ(freed, "t");
  const auto got = co_await a->acquire(s.ask(0, enough));
  EXPECT_TRUE(got.done());
  co_await a->close();
}

// Whoever uses the same number excludes the lock: it belongs to the database, not to a program.
TEST_F(server, advisory_numbers_are_the_databases) {
  play(meet_another_application);
}

task<void> be_swept(server& s) {
  const auto a = co_await s.open(1);
  const auto b = co_await s.open(1);
  const auto held = co_await a->acquire(s.ask(0, enough));
  EXPECT_TRUE(held.done());
  const time_point until = held.value().valid_until;
  auto got = co_await b->acquire(s.ask(0, enough));
  while (!got.done() && s.l.now() < until + enough) {
    co_await s.l.sleep_for(5ms);
    got = co_await b->acquire(s.ask(0, enough));
  }
  EXPECT_TRUE(got.done());
  EXPECT_GE(s.l.now(), until) << "swept too early";
  const auto late = co_await a->release(s.ask(0, enough));
  EXPECT_TRUE(late.refused(refusal::not_owner));
  co_await a->close();
  co_await b->close();
}

// The sweeper takes the row from a slow holder, whose release is refused then.
TEST_F(server, unique_key_is_swept) {
  use("postgres/unique_key", {{"sweep", "300ms"}});
  play(be_swept);
}

task<void> keep_unswept(server& s) {
  const auto a = co_await s.open(1);
  const auto held = co_await a->acquire(s.ask(0, enough));
  EXPECT_EQ(held.value().valid_until, time_point::max());
  co_await a->close();
}

// Without a sweeper a row stays until it is deleted.
TEST_F(server, unique_key_without_a_sweeper_has_no_end) {
  use("postgres/unique_key", {{"sweep", "off"}});
  play(keep_unswept);
}

task<void> draw_tokens(server& s) {
  const auto a = co_await s.open(1);
  const auto b = co_await s.open(1);
  const auto first = co_await a->acquire(s.ask(0, enough));
  EXPECT_TRUE(first.done());
  const auto busy = co_await b->acquire(s.ask(0, enough));
  EXPECT_TRUE(busy.refused(refusal::busy));
  const auto more = co_await a->renew(s.ask(0, enough));
  EXPECT_TRUE(more.done());
  EXPECT_EQ(more.value().token, first.value().token) << "the same grant, longer";
  const auto freed = co_await a->release(s.ask(0, enough));
  EXPECT_TRUE(freed.done());
  const auto second = co_await b->acquire(s.ask(0, enough));
  EXPECT_TRUE(second.done());
  EXPECT_GT(second.value().token, first.value().token);
  const std::string by =
      co_await s.look("SELECT locked_by FROM lockmark_" + s.run.run + "_lease_row");
  EXPECT_EQ(by, "i1/0");
  co_await a->close();
  co_await b->close();
}

// A renewal keeps the token; attempts in vain draw numbers, which only leaves gaps.
TEST_F(server, lease_tokens_grow_with_grants) {
  use("postgres/lease_row");
  play(draw_tokens);
}

task<void> see_the_setting(server& s) {
  const auto a = co_await s.open(1);
  const auto got = co_await a->acquire(s.ask(0, enough));
  EXPECT_TRUE(got.done());
  // The row's transaction is over; what the session has set shows in its next ones.
  const std::string local = co_await s.look("SHOW synchronous_commit");
  EXPECT_EQ(local, "on") << "of another session";
  co_await a->close();
}

// What a commit waits for is set for the run's own sessions only.
TEST_F(server, synchronous_commit_is_of_the_session) {
  use("postgres/lease_row", {{"synchronous_commit", "off"}});
  play(see_the_setting);
}

}  // namespace
}  // namespace lockmark::postgres
