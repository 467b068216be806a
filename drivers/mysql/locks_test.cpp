// The locks on MySQL against a real server: the properties of single locks.
#include <gmock/gmock.h>

#include <utility>
#include <vector>

#include "drivers/mysql/route.hpp"
#include "drivers/mysql/server_fixture.hpp"

namespace lockmark::mysql {
namespace {

using testing::HasSubstr;

// A run with another lock than the fixture's.
struct other_lock : server {
  void use(std::string_view lock, const option_values& chosen = {}) {
    locks = make(target(), lock, chosen);
  }
};

task<void> lock_without_index(server& s) {
  const auto a = co_await s.open(1);
  const auto b = co_await s.open(1);
  const auto held = co_await a->acquire(s.ask(0, enough));
  EXPECT_TRUE(held.done());
  const auto other_key = co_await b->acquire(s.ask(1, 1s));
  EXPECT_TRUE(other_key.refused(refusal::deadline));
  const auto freed = co_await a->release(s.ask(0, enough));
  EXPECT_TRUE(freed.done());
  const auto now_free = co_await b->acquire(s.ask(1, enough));
  EXPECT_TRUE(now_free.done());
  co_await a->close();
  co_await b->close();
}

// A search without an index locks the whole table: other keys wait too.
TEST_F(other_lock, for_update_without_an_index_locks_all_keys) {
  use("mysql/for_update", {{"indexed", "false"}});
  play(lock_without_index);
}

// Two commits within the second of a third: true if the last of them was not refused.
task<bool> overwrite(server& s, session& a, session& b) {
  // The rest of a second, in which no row's time changes.
  const std::string us = co_await s.look("SELECT MICROSECOND(NOW(6))");
  co_await s.l.sleep_for(std::chrono::microseconds{1'050'000 - std::stol(us)});
  const auto set = co_await a.acquire(s.ask(0, enough));
  EXPECT_TRUE(set.done());
  const auto first = co_await a.release(s.ask(0, enough));
  EXPECT_TRUE(first.done());
  const auto by_a = co_await a.acquire(s.ask(0, enough));
  const auto by_b = co_await b.acquire(s.ask(0, enough));
  EXPECT_TRUE(by_a.done() && by_b.done());
  const auto second = co_await a.release(s.ask(0, enough));
  const auto third = co_await b.release(s.ask(0, enough));
  EXPECT_TRUE(second.done());
  co_return third.done();
}

task<void> lose_an_update(server& s) {
  const auto a = co_await s.open(1);
  const auto b = co_await s.open(1);
  std::uint64_t commits = 0;
  bool overwritten = false;
  for (int n = 0; n < 20 && !overwritten; ++n) {  // a busy machine may need more than a second
    overwritten = co_await overwrite(s, *a, *b);
    commits += overwritten ? 3 : 2;
  }
  EXPECT_TRUE(overwritten) << "the documented defect is gone";
  const auto seen = co_await s.locks->commits(s.l, s.in(enough));
  EXPECT_EQ(seen.at(0), commits - 1);
  co_await a->close();
  co_await b->close();
}

// In whole seconds, the second of two commits in one second overwrites the first unnoticed.
TEST_F(other_lock, update_time_in_seconds_loses_updates) {
  use("mysql/optimistic_update_time", {{"precision", "0"}});
  play(lose_an_update);
}

// Of 2,500 keys, some with names that need quotes; the server counts the connections.
task<void> count_commits_of_many(server& s) {
  const auto a = co_await s.open(1);
  for (const std::uint32_t key : {0U, 3U, 2'000U}) {
    const auto read = co_await a->acquire(s.ask(key, enough));
    EXPECT_TRUE(read.done());
    const auto committed = co_await a->release(s.ask(key, enough));
    EXPECT_TRUE(committed.done());
  }
  co_await a->close();
  const std::string connections = "SHOW GLOBAL STATUS LIKE 'Connections'";
  const answer before = co_await must(s.admin, "count", connections, s.in(enough));
  const auto seen = co_await s.locks->commits(s.l, s.in(enough));
  const answer after = co_await must(s.admin, "count", connections, s.in(enough));
  EXPECT_EQ(after.at(0, 2).number(1) - before.at(0, 2).number(1), 1U) << "one login for all keys";
  EXPECT_EQ(seen.size(), s.run.keys.size());
  std::uint64_t all = 0;
  for (const std::uint64_t of_key : seen) all += of_key;
  EXPECT_EQ(all, 3U);
  EXPECT_EQ(seen.at(3), 1U);
  EXPECT_EQ(seen.at(2'000), 1U);
}

// A login for each key took longer than the time for all of them, where logins are slow.
TEST_F(other_lock, commits_of_many_keys_are_asked_for_at_once) {
  for (int k = 4; k < 2'500; ++k) run.keys.push_back("k" + std::to_string(k));
  use("mysql/optimistic_version", {});
  play(count_commits_of_many);
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
  const bool frees_anybodys = late.done();
  EXPECT_EQ(frees_anybodys, s.run.keys[0] == "stolen") << "see each test";
  co_await a->close();
  co_await b->close();
}

// The sweeper takes the row from a slow holder, whose release then frees the row of another.
TEST_F(other_lock, unique_key_is_swept_and_freed_by_anybody) {
  run.keys[0] = "stolen";
  use("mysql/unique_key", {{"sweep", "300ms"}});
  play(be_swept);
}

// With an owner in the row, the late release is refused.
TEST_F(other_lock, unique_key_reentrant_is_swept_and_knows_its_owner) {
  use("mysql/unique_key_reentrant", {{"sweep", "300ms"}});
  play(be_swept);
}

// Two inserts in vain between two that succeed.
task<void> burn_ids(server& s) {
  const auto a = co_await s.open(1);
  const auto b = co_await s.open(1);
  const std::string id = "SELECT id FROM lockmark_" + s.run.run + "_unique_key WHERE name='k0'";
  const auto first = co_await a->acquire(s.ask(0, enough));
  EXPECT_TRUE(first.done());
  const std::string before = co_await s.look(id);
  for (int n = 0; n < 2; ++n) {
    const auto in_vain = co_await b->acquire(s.ask(0, enough));
    EXPECT_TRUE(in_vain.refused(refusal::busy));
  }
  const auto freed = co_await a->release(s.ask(0, enough));
  EXPECT_TRUE(freed.done());
  const auto second = co_await b->acquire(s.ask(0, enough));
  EXPECT_TRUE(second.done());
  const std::string after = co_await s.look(id);
  EXPECT_EQ(std::stoi(after) - std::stoi(before), 3) << "the documented defect is gone";
  co_await a->close();
  co_await b->close();
}

// With a secondary unique key, each INSERT in vain burns a number of the primary key.
TEST_F(other_lock, unique_key_that_is_secondary_burns_ids) {
  use("mysql/unique_key", {{"key", "secondary"}});
  play(burn_ids);
}

// One cycle of a client where nobody competes, without the first, which inserts.
task<void> insert_and_read(server& s) {
  const auto a = co_await s.open(1);
  const auto b = co_await s.open(1);
  const std::string rows = "SELECT COUNT(*) FROM lockmark_" + s.run.run + "_optimistic_version";
  const std::string none = co_await s.look(rows);
  EXPECT_EQ(none, "0");
  const auto first = co_await a->acquire(s.ask(0, enough));
  const auto other = co_await b->acquire(s.ask(0, enough));
  EXPECT_TRUE(first.done() && other.done());
  const std::string one = co_await s.look(rows);
  EXPECT_EQ(one, "1");
  const auto committed = co_await a->release(s.ask(0, enough));
  EXPECT_TRUE(committed.done());
  const auto late = co_await b->release(s.ask(0, enough));
  EXPECT_TRUE(late.refused(refusal::conflict));
  const traffic before = a->sent();
  const auto again = co_await a->acquire(s.ask(0, enough));
  const auto more = co_await a->release(s.ask(0, enough));
  EXPECT_TRUE(again.done() && more.done());
  EXPECT_EQ(a->sent().commands - before.commands, 3U);
  co_await a->close();
  co_await b->close();
}

// The row is made by who comes first, and a second INSERT is no obstacle.
TEST_F(other_lock, optimistic_version_may_insert_first) {
  use("mysql/optimistic_version", {{"first", "insert"}});
  play(insert_and_read);
}

task<void> keep_unswept(server& s) {
  const auto a = co_await s.open(1);
  const auto held = co_await a->acquire(s.ask(0, enough));
  EXPECT_EQ(held.value().valid_until, time_point::max());
  co_await a->close();
}

// Without a sweeper a row stays until it is deleted.
TEST_F(other_lock, unique_key_without_a_sweeper_has_no_end) {
  use("mysql/unique_key", {{"sweep", "off"}});
  play(keep_unswept);
}

task<void> get_in_fractions(server& s) {
  const auto a = co_await s.open(1);
  const auto b = co_await s.open(1);
  const auto held = co_await a->acquire(s.ask(0, enough));
  EXPECT_TRUE(held.done());
  for (const duration d : {650ms, 1200ms}) {
    std::uint64_t commands = 0;
    for (int n = 0; n < 10 && commands != 1; ++n) {  // a KILL is right if the server is 10 ms late
      const time_point start = s.l.now();
      const traffic before = b->sent();
      const auto got = co_await b->acquire(s.ask(0, d));
      EXPECT_TRUE(got.refused(refusal::deadline));
      EXPECT_GE(s.l.now() - start, d - 5ms);
      commands = b->sent().commands - before.commands;
    }
    EXPECT_EQ(commands, 1U) << "no KILL on MariaDB";
  }
  co_await a->close();
  co_await b->close();
}

// MariaDB waits for fractions of a second by itself.
TEST_F(other_lock, get_lock_waits_in_fractions) {
  use("mysql/get_lock");
  play(get_in_fractions);
}

task<void> wait_with_a_key_in_hand(server& s) {
  const auto a = co_await s.open(2);
  const auto b = co_await s.open(1);
  const auto first = co_await a->acquire(s.ask(0, enough, 0));
  const auto second = co_await b->acquire(s.ask(1, enough));
  EXPECT_TRUE(first.done() && second.done());
  const auto kept_out = co_await a->acquire(s.ask(1, 1s, 0));
  EXPECT_TRUE(kept_out.refused(refusal::deadline));
  co_await a->close();
  co_await b->close();
}

// A client that holds one key waits for another on a second connection.
TEST_F(other_lock, get_lock_holds_several_keys) {
  use("mysql/get_lock");
  play(wait_with_a_key_in_hand);
}

// Names that the server would refuse are refused before the run.
TEST_F(other_lock, get_lock_checks_the_length_of_names) {
  run.keys[0] = std::string(185, 'k');
  use("mysql/get_lock");
  std::string said;
  try {
    play(get_in_fractions);
  } catch (const usage_error& e) {
    said = e.what();
  }
  EXPECT_THAT(said, HasSubstr("too long"));
}

task<void> write_a_passing_row(server& s) {
  const std::string table = co_await s.look(
      "SELECT table_name FROM information_schema.tables WHERE table_schema=DATABASE() "
      "AND table_name LIKE 'lockmark\\_" +
      s.run.run + "\\_%'");
  EXPECT_FALSE(table.empty());
  for (const std::string& sql : passing_row('`' + table + '`')) {
    const answer a = co_await must(s.admin, "write a row", sql, s.in(enough));
    const bool changes = sql.starts_with("INSERT") || sql.starts_with("DELETE");
    EXPECT_EQ(a.affected, changes ? 1U : 0U) << sql;
  }
}

// A client that moves to another Galera node writes one, into whichever table its lock has.
TEST_F(other_lock, every_table_takes_a_row_of_a_name_alone) {
  const std::vector<std::pair<std::string_view, option_values>> with_a_table{
      {"mysql/for_update", {}},
      {"mysql/for_update", {{"indexed", "false"}}},
      {"mysql/unique_key", {}},
      {"mysql/unique_key", {{"key", "secondary"}}},
      {"mysql/unique_key_reentrant", {}},
      {"mysql/shedlock", {}},
      {"mysql/optimistic_version", {}},
      {"mysql/optimistic_update_time", {}},
      {"mysql/optimistic_update_time", {{"precision", "0"}}},
  };
  for (const auto& [lock, chosen] : with_a_table) {
    SCOPED_TRACE(lock);
    use(lock, chosen);
    play(write_a_passing_row);
  }
}

task<void> share_a_table(server& s) {
  co_await must(s.admin, "insert",
                "INSERT INTO shedlock(name, lock_until, locked_by) VALUES"
                "('k0', TIMESTAMPADD(SECOND, 60, UTC_TIMESTAMP(3)), 'java'),"
                "('theirs', UTC_TIMESTAMP(3), 'java')",
                s.in(enough));
  const auto a = co_await s.open(1);
  request r = s.ask(0, enough);
  r.lease = 10s;
  const auto busy = co_await a->acquire(r);
  EXPECT_TRUE(busy.refused(refusal::busy));
  co_await must(s.admin, "unlock", "UPDATE shedlock SET lock_until=UTC_TIMESTAMP(3)", s.in(enough));
  co_await s.l.sleep_for(2ms);
  r.deadline = s.in(enough);
  const auto got = co_await a->acquire(r);
  EXPECT_TRUE(got.done());
  const std::string by = co_await s.look("SELECT locked_by FROM shedlock WHERE name='k0'");
  EXPECT_EQ(by, "i0/0");
  co_await a->close();
  co_await s.locks->wipe(s.l, s.in(enough));
  const std::string left = co_await s.look("SELECT GROUP_CONCAT(name) FROM shedlock");
  EXPECT_EQ(left, "theirs");
  co_await must(s.admin, "drop", "DELETE FROM shedlock", s.in(enough));
}

// In a table shared with other programs, their locks are respected and their rows kept.
TEST_F(other_lock, shedlock_shares_a_table) {
  use("mysql/shedlock", {{"table", "shedlock"}});
  play(share_a_table);
}

}  // namespace
}  // namespace lockmark::mysql
