// acquire   SELECT 1 FROM lockmark_<run>_for_update WHERE name='<key>' FOR UPDATE WAIT <seconds>
// release   COMMIT
//
// Autocommit is off, so that the SELECT opens the transaction: two commands per cycle, and none of
// them writes, so none waits for the disk. InnoDB keeps the waiters and wakes one of them.
//
// Servers limit waits in whole seconds only. At the deadline the wait is ended by KILL QUERY from
// the session's control connection and then rolled back; the rollback's answer proves that nothing
// was taken. Waits of whole seconds end by themselves. MySQL has no WAIT clause and reads it as a
// comment: there every wait is ended by KILL.
//
// A broken connection loses its lock: the server rolls back when it notices. Reentrancy is counted
// here, per session.
#include "drivers/mysql/for_update.hpp"

#include <fmt/core.h>

#include <chrono>
#include <map>

#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/killer.hpp"
#include "drivers/mysql/pool.hpp"
#include "drivers/mysql/table_driver.hpp"

namespace lockmark::mysql {
namespace {

using namespace std::chrono_literals;

// MySQL alone waits by this setting, and KILL QUERY is what ends a wait there.
constexpr std::string_view greeting =
    "SET SESSION autocommit=0, SESSION innodb_lock_wait_timeout=100000000";

// How long the server may take to answer KILL QUERY and ROLLBACK before it counts as silent.
constexpr duration round_trip_limit = 250ms;

// A wait that the server itself will end no later than this after the deadline is left to it.
constexpr duration server_lag = 10ms;

struct hold {
  connection* link = nullptr;
  unsigned depth = 0;
};

struct member {
  std::map<std::uint32_t, hold> holds;  // by key
  bool lost = false;                    // a connection broke that held a key
};

class for_update_session final : public session {
 public:
  for_update_session(loop& l, const endpoint& where, const table& rows, std::uint32_t clients)
      : loop_(l),
        rows_(rows),
        pool_(l, where, std::string{greeting}, clients),
        killer_(l, where, pool_.sent()),
        members_(clients) {}

  task<void> connect(time_point deadline) { return pool_.fill(deadline); }

  task<outcome<grant>> acquire(request r) override;
  task<outcome<grant>> renew(request) override { co_return refusal::not_owner; }
  task<outcome<nothing>> release(request r) override;
  bool alive() const override;
  task<void> close() override;
  traffic sent() const override { return pool_.sent(); }

 private:
  bool enter_again(request r);
  task<outcome<grant>> lock_row(connection& c, request r);
  task<outcome<grant>> give_up(connection& c);
  task<outcome<grant>> roll_back(connection& c, answer locked, time_point deadline);

  loop& loop_;
  const table& rows_;
  pool pool_;
  killer killer_;
  std::vector<member> members_;
};

task<outcome<grant>> for_update_session::acquire(request r) {
  if (loop_.now() >= r.deadline) co_return refusal::deadline;
  if (enter_again(r)) co_return grant{};
  const outcome<connection*> lent = co_await pool_.borrow(r.client, r.deadline);
  if (!lent.done()) co_return lent.without_value<grant>();
  connection& c = *lent.value();
  const outcome<grant> end = co_await lock_row(c, r);
  if (end.done()) {
    members_[r.client].holds[r.key] = hold{&c, 1};
    members_[r.client].lost = false;
  } else {
    pool_.give_back(r.client, c);
  }
  co_return end;
}

bool for_update_session::enter_again(request r) {
  member& m = members_[r.client];
  const auto held = m.holds.find(r.key);
  if (held == m.holds.end()) return false;
  hold& h = held->second;
  if (!h.link->broken()) {
    ++h.depth;
    return true;
  }
  m.lost = true;
  pool_.give_back(r.client, *h.link);
  m.holds.erase(held);
  return false;
}

task<outcome<grant>> for_update_session::lock_row(connection& c, request r) {
  const time_point now = loop_.now();
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(r.deadline - now);
  c.send(fmt::format("SELECT 1 FROM {}{} FOR UPDATE /*M! WAIT {} */", rows_.name(),
                     rows_.where(r.key), seconds.count()));
  const bool server_ends_it = now + seconds <= r.deadline + server_lag;
  const bool in_time =
      co_await c.answered(server_ends_it ? now + seconds + server_lag : r.deadline);
  if (!in_time) co_return co_await give_up(c);
  answer a = co_await c.take(r.answer_by());
  if (a.unknown) co_return *a.unknown;
  if (!a.done()) co_return co_await roll_back(c, std::move(a), loop_.now() + round_trip_limit);
  expect_row(pool_.where(), a);
  co_return grant{};
}

// The deadline has come, and the server still waits.
task<outcome<grant>> for_update_session::give_up(connection& c) {
  const time_point limit = loop_.now() + round_trip_limit;
  const bool killed = co_await killer_.kill_query(c.id(), limit);
  if (!killed) {
    c.drop();
    co_return doubt::deadline;
  }
  answer a = co_await c.take(limit);
  if (a.unknown) co_return *a.unknown;
  co_return co_await roll_back(c, std::move(a), limit);
}

// `locked` is how the SELECT ended: with an error, or too late.
task<outcome<grant>> for_update_session::roll_back(connection& c, answer locked,
                                                   time_point deadline) {
  const answer a = co_await c.query("ROLLBACK", deadline);
  if (!a.done()) c.drop();
  switch (locked.error) {
    case 0:
      if (a.done()) co_return refusal::deadline;
      co_return a.unknown.value_or(doubt::connection_lost);
    case error_number::lock_wait_timeout:
    case error_number::interrupted: co_return refusal::deadline;
    default: break;
  }
  if (is_permanent(locked.error)) {
    throw no_server(sentence(pool_.where(), "lock a row of " + rows_.bare_name(), locked));
  }
  co_return refusal::unavailable;
}

task<outcome<nothing>> for_update_session::release(request r) {
  member& m = members_[r.client];
  const auto held = m.holds.find(r.key);
  if (held == m.holds.end()) co_return refusal::not_owner;
  connection& c = *held->second.link;
  const bool broken = c.broken();
  if (!broken && --held->second.depth > 0) co_return nothing{};
  m.holds.erase(held);
  if (broken) {
    m.lost = true;
    pool_.give_back(r.client, c);
    co_return refusal::not_owner;
  }
  const answer a = co_await c.query("COMMIT", r.answer_by());
  if (!a.done()) c.drop();  // ends the transaction, whatever became of the COMMIT
  pool_.give_back(r.client, c);
  if (a.done()) co_return nothing{};
  m.lost = true;
  co_return a.unknown.value_or(doubt::connection_lost);
}

// False while a client whose connection broke in a hold has not acquired again.
bool for_update_session::alive() const {
  for (const member& m : members_) {
    if (m.lost) return false;
    for (const auto& [key, h] : m.holds) {
      if (h.link->broken()) return false;
    }
  }
  return true;
}

task<void> for_update_session::close() {
  pool_.quit();
  killer_.quit();
  co_return;
}

class for_update_driver final : public table_driver {
 public:
  explicit for_update_driver(const driver_setup& setup) : table_driver(setup, "for_update", "") {}

  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override {
    auto s = std::make_unique<for_update_session>(l, where(), rows(), who.clients);
    co_await s->connect(deadline);
    co_return s;
  }
};

}  // namespace

lock_kind for_update() {
  return {
      .name = "mysql/for_update",
      .summary = "a row locked by SELECT ... FOR UPDATE in an open transaction",
      .has = feature::session_bound | feature::server_wait | feature::reentrant,
      .promises = safety::transaction,
      .topologies = "mysql",
      .algorithm = "SELECT ... FOR UPDATE, COMMIT (InnoDB row lock; Quartz StdRowLockSemaphore)",
      .options = {},
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        return std::make_unique<for_update_driver>(setup);
      },
  };
}

}  // namespace lockmark::mysql
