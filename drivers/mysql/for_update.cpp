// mysql/for_update: the row of a key is locked by SELECT ... FOR UPDATE, freed by COMMIT.
//
// acquire   SELECT @@read_only FROM lockmark_<run>_for_update
//           WHERE name='<key>' FOR UPDATE WAIT <s>
// release   COMMIT
//
// Autocommit is off, so the SELECT opens the transaction: two commands per cycle. Neither writes,
// so neither waits for the disk. InnoDB queues the waiters and wakes one of them. A server that has
// become a replica meanwhile also grants row locks: hence @@read_only.
//
// Servers limit waits in whole seconds only. At the deadline KILL QUERY from the session's control
// connection ends the wait, which is then rolled back; the rollback's answer proves that nothing
// was taken. Waits of whole seconds end by themselves. MySQL has no WAIT clause and reads it as a
// comment: there KILL ends every wait.
//
// A broken connection loses its lock: the server rolls back when it notices. Reentrancy is counted
// here, per session. Galera nodes do not share row locks.
#include <fmt/core.h>

#include <chrono>

#include "drivers/mysql/bound_session.hpp"
#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/mysql.hpp"
#include "drivers/mysql/options.hpp"
#include "drivers/mysql/table_driver.hpp"

namespace lockmark::mysql {
namespace {

// Only MySQL waits by this setting; KILL QUERY ends its waits.
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

class for_update_session final : public bound_session {
 public:
  for_update_session(const opening& o, variant how)
      : bound_session(o, std::string{greeting}), how_(how) {}

 private:
  task<outcome<grant>> take(connection& c, request r, unsigned depth) override;
  task<outcome<nothing>> give(connection& c, request r, unsigned depth) override;
  std::string statement(request r, std::int64_t seconds) const;
  task<outcome<grant>> roll_back(connection& c, request r, waited end);

  const variant how_;
};

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

task<outcome<grant>> for_update_session::take(connection& c, request r, unsigned depth) {
  if (depth > 0) co_return grant{};
  const time_point now = loop_.now();
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(r.deadline - now);
  std::string sql = statement(r, seconds.count());
  waited end = co_await killer_.wait(c, std::move(sql), now + seconds, r);
  const answer& a = end.said;
  if (a.unknown) co_return *a.unknown;
  const bool skipped = how_.wait == patience::skip_locked && a.empty();
  if (end.late || !a.done() || skipped) co_return co_await roll_back(c, r, std::move(end));
  expect_row(a);
  if (!is_read_only(a.at(0, 1).text(0))) co_return grant{};
  c.drop();
  co_return refusal::unavailable;
}

// `end`: the SELECT ended with an error, without a row, or too late.
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
    // A Galera node reports a KILL as a deadlock.
    case error_number::deadlock: co_return end.late ? refusal::deadline : refusal::busy;
    default: break;
  }
  if (is_permanent(locked.error)) {
    throw no_server(
        sentence(c.where(), fmt::format("lock a row of {}", rows_.bare_name()), locked));
  }
  co_return refusal::unavailable;
}

task<outcome<nothing>> for_update_session::give(connection& c, request r, unsigned depth) {
  if (depth > 0) co_return nothing{};
  const answer a = co_await c.query("COMMIT", r.answer_by());
  if (a.done()) co_return nothing{};
  c.drop();  // ends the transaction, whatever became of the COMMIT
  // A Galera node reports here that another node's change has rolled back this transaction.
  if (a.error == error_number::deadlock) co_return refusal::not_owner;
  co_return a.unknown.value_or(doubt::connection_lost);
}

}  // namespace

lock_kind for_update() {
  return {
      .name = "mysql/for_update",
      .summary = "a row locked by SELECT ... FOR UPDATE in an open transaction",
      .has = feature::session_bound | feature::server_wait | feature::reentrant,
      .promises = safety::transaction,
      .topologies = every_topology,
      .algorithm = "SELECT ... FOR UPDATE, COMMIT (InnoDB row lock; Quartz StdRowLockSemaphore)",
      .cost = {2, 2},
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
        return std::make_unique<table_driver>(
            setup,
            layout{.suffix = "for_update",
                   .columns = ", plain VARBINARY(191) GENERATED ALWAYS AS (name) STORED"},
            concerns{.row_locks = true, .one_server = true, .control_connections = true},
            [how = read_variant(setup.options)](const opening& o) {
              return std::make_unique<for_update_session>(o, how);
            });
      },
  };
}

}  // namespace lockmark::mysql
