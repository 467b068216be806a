// mysql/for_update: the row of a key is locked by SELECT ... FOR UPDATE, freed by COMMIT.
//
// acquire   SELECT @@read_only FROM lockmark_<run>_for_update
//           WHERE name='<key>' FOR UPDATE WAIT <s>
// release   COMMIT
//
// Autocommit is off, so that the SELECT opens the transaction: two commands per cycle, and none of
// them writes, so none waits for the disk. InnoDB keeps the waiters and wakes one of them. The
// row's lock is also to be had from a server that has meanwhile become a replica: hence
// @@read_only.
//
// Servers limit waits in whole seconds only. At the deadline the wait is ended by KILL QUERY from
// the session's control connection and then rolled back; the rollback's answer proves that nothing
// was taken. Waits of whole seconds end by themselves. MySQL has no WAIT clause and reads it as a
// comment: there every wait is ended by KILL.
//
// A broken connection loses its lock: the server rolls back when it notices. Reentrancy is counted
// here, per session. Galera nodes do not tell each other of row locks.
#include <fmt/core.h>

#include <chrono>

#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/holdings.hpp"
#include "drivers/mysql/mysql.hpp"
#include "drivers/mysql/options.hpp"
#include "drivers/mysql/pool.hpp"
#include "drivers/mysql/table_driver.hpp"
#include "drivers/mysql/waiting.hpp"

namespace lockmark::mysql {
namespace {

// MySQL alone waits by this setting, and KILL QUERY is what ends a wait there.
constexpr std::string_view greeting =
    "SET SESSION autocommit=0, SESSION innodb_lock_wait_timeout=100000000";

enum class patience { yes, nowait, skip_locked };

struct variant {
  patience wait = patience::yes;
  bool indexed = true;
};

variant read_variant(const option_values& options) {
  const std::string& wait = options.at("wait");
  return {.wait = wait == "nowait"        ? patience::nowait
                  : wait == "skip_locked" ? patience::skip_locked
                                          : patience::yes,
          .indexed = options.at("indexed") == "true"};
}

class for_update_session final : public session {
 public:
  for_update_session(loop& l, route& way, const table& rows, const instance& who, variant how)
      : loop_(l),
        rows_(rows),
        how_(how),
        pool_(l, way, std::string{greeting}, who),
        killer_(l, pool_.sent()),
        holdings_(pool_, who.clients) {}

  task<void> connect(time_point deadline) { return pool_.fill(deadline); }

  task<outcome<grant>> acquire(request r) override;
  task<outcome<grant>> renew(request) override { co_return refusal::not_owner; }
  task<outcome<nothing>> release(request r) override;
  bool alive() const override { return holdings_.alive(); }
  task<void> close() override;
  traffic sent() const override { return pool_.sent(); }

 private:
  task<outcome<grant>> lock_row(connection& c, request r);
  std::string statement(request r, std::int64_t seconds) const;
  task<outcome<grant>> roll_back(connection& c, request r, waited end);

  loop& loop_;
  const table& rows_;
  const variant how_;
  pool pool_;
  killer killer_;
  holdings holdings_;
};

task<outcome<grant>> for_update_session::acquire(request r) {
  if (loop_.now() >= r.deadline) co_return refusal::unavailable;  // too late to ask
  if (hold* const held = holdings_.find(r)) {
    ++held->depth;
    co_return grant{};
  }
  const outcome<connection*> lent = co_await pool_.borrow(r.client, r.deadline);
  if (!lent.done()) co_return lent.without_value<grant>();
  connection& c = *lent.value();
  const outcome<grant> end = co_await lock_row(c, r);
  if (end.done()) {
    holdings_.taken(r, c);
  } else {
    pool_.give_back(r.client, c);
  }
  co_return end;
}

std::string for_update_session::statement(request r, std::int64_t seconds) const {
  std::string sql = fmt::format("SELECT @@global.read_only FROM {}", rows_.name());
  sql += how_.indexed ? rows_.where(r.key) : fmt::format(" WHERE plain={}", rows_.key(r.key));
  switch (how_.wait) {
    case patience::nowait: return sql += " FOR UPDATE NOWAIT";
    case patience::skip_locked: return sql += " FOR UPDATE SKIP LOCKED";
    case patience::yes: break;
  }
  return sql += fmt::format(" FOR UPDATE /*M! WAIT {} */", seconds);
}

task<outcome<grant>> for_update_session::lock_row(connection& c, request r) {
  const time_point now = loop_.now();
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(r.deadline - now);
  std::string sql = statement(r, seconds.count());
  waited end = co_await wait_for(loop_, c, killer_, std::move(sql), now + seconds, r);
  const answer& a = end.said;
  if (a.unknown) co_return *a.unknown;
  const bool skipped = how_.wait == patience::skip_locked && a.empty();
  if (end.late || !a.done() || skipped) co_return co_await roll_back(c, r, std::move(end));
  expect_row(c.where(), a);
  if (!is_read_only(a.at(0, 1).text(0))) co_return grant{};
  c.drop();
  co_return refusal::unavailable;
}

// `end` is how the SELECT ended: with an error, without a row, or too late.
task<outcome<grant>> for_update_session::roll_back(connection& c, request r, waited end) {
  const answer& locked = end.said;
  const answer a = co_await c.query("ROLLBACK", clear_up_by(loop_, r));
  if (!a.done() || is_for_another_server(locked.error)) c.drop();
  const refusal kept_out = how_.wait == patience::yes ? refusal::deadline : refusal::busy;
  switch (locked.error) {
    case 0:
      if (!a.done()) co_return a.unknown.value_or(doubt::connection_lost);
      co_return end.late ? refusal::deadline : kept_out;
    case error_number::lock_wait_timeout:
    case error_number::locked_nowait: co_return kept_out;
    case error_number::interrupted: co_return refusal::deadline;
    // To be killed is a deadlock in the words of a Galera node.
    case error_number::deadlock: co_return end.late ? refusal::deadline : refusal::busy;
    default: break;
  }
  if (is_permanent(locked.error)) {
    throw no_server(
        sentence(c.where(), fmt::format("lock a row of {}", rows_.bare_name()), locked));
  }
  co_return refusal::unavailable;
}

task<outcome<nothing>> for_update_session::release(request r) {
  hold* const held = holdings_.find(r);
  if (held == nullptr) co_return refusal::not_owner;
  if (--held->depth > 0) co_return nothing{};
  connection& c = *held->link;
  holdings_.freed(r);
  const answer a = co_await c.query("COMMIT", r.answer_by());
  if (!a.done()) c.drop();  // ends the transaction, whatever became of the COMMIT
  pool_.give_back(r.client, c);
  if (a.done()) co_return nothing{};
  holdings_.lost(r);
  // A Galera node rolls back who is in the way of another node's change, and says so here.
  if (a.error == error_number::deadlock) co_return refusal::not_owner;
  co_return a.unknown.value_or(doubt::connection_lost);
}

task<void> for_update_session::close() {
  pool_.quit();
  killer_.quit();
  co_return;
}

class for_update_driver final : public table_driver {
 public:
  explicit for_update_driver(const driver_setup& setup)
      : table_driver(setup,
                     table{setup.run_names,
                           {.suffix = "for_update",
                            .columns = ", plain VARBINARY(191) GENERATED ALWAYS AS (name) STORED"}},
                     {.row_locks = true, .one_server = true, .control_connections = true}),
        how_(read_variant(setup.options)) {}

  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override {
    auto s = std::make_unique<for_update_session>(l, way(), rows(), who, how_);
    co_await s->connect(deadline);
    co_return s;
  }

 private:
  const variant how_;
};

}  // namespace

lock_kind for_update() {
  return {
      .name = "mysql/for_update",
      .summary = "a row locked by SELECT ... FOR UPDATE in an open transaction",
      .has = feature::session_bound | feature::server_wait | feature::reentrant,
      .promises = safety::transaction,
      .topologies = every_topology,
      .algorithm = "SELECT ... FOR UPDATE, COMMIT (InnoDB row lock; Quartz StdRowLockSemaphore)",
      .options = {{.name = "wait",
                   .values = "yes, nowait, skip_locked",
                   .preset = "yes",
                   .help = "whether the server keeps waiters; otherwise it tries once",
                   .accepts = is_one_of<"yes", "nowait", "skip_locked">},
                  {.name = "indexed",
                   .values = "true, false",
                   .preset = "true",
                   .help = "false: looks for the row by a column without index, which locks all "
                           "rows of the table",
                   .accepts = is_one_of<"true", "false">}},
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        return std::make_unique<for_update_driver>(setup);
      },
  };
}

}  // namespace lockmark::mysql
