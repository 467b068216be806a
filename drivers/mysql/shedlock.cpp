// mysql/shedlock: ShedLock's table and statements.
//
// ShedLock as its JDBC provider does it (7.9.0), see shedlock_sql.cpp for the statements.
//
// acquire   INSERT of the key's row, once per process and key; where there is one already,
//           UPDATE ... SET lock_until, locked_by WHERE name AND lock_until <= now
// renew     UPDATE ... SET lock_until WHERE name AND locked_by AND lock_until > now
// release   UPDATE ... SET lock_until=now WHERE name AND locked_by; the row stays
//
// Each in a transaction of its own. Whoever holds a lock keeps an object that says so and can
// unlock once; after its time it may still unlock, which does no harm, but was not the holder any
// more: here that is refused as not owner. With time=client the clients' clocks decide, as by
// default in ShedLock; here they are set by the server's when a session opens, and run on their own
// then.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "drivers/mysql/autocommit_pool.hpp"
#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/mysql.hpp"
#include "drivers/mysql/options.hpp"
#include "drivers/mysql/shedlock_sql.hpp"
#include "drivers/mysql/table_driver.hpp"

namespace lockmark::mysql {
namespace {

using namespace std::chrono_literals;

class shedlock_session final : public session {
 public:
  shedlock_session(loop& l, route& way, const table& rows, const instance& who, bool client_time)
      : loop_(l),
        rows_(rows),
        id_(who.id),
        client_time_(client_time),
        statements_(l, way, who),
        held_(who.clients) {}

  task<void> connect(time_point deadline);
  task<outcome<grant>> acquire(request r) override;
  task<outcome<grant>> renew(request r) override;
  task<outcome<nothing>> release(request r) override;
  bool alive() const override { return true; }  // rows outlive connections
  task<void> close() override {
    statements_.quit();
    co_return;
  }
  traffic sent() const override { return statements_.sent(); }

 private:
  shedlock_lock lock(request r) const {
    return {rows_.name(), rows_.key(r.key), literal(owner_name(id_, r.client))};
  }
  utc_time now() const {
    return utc_time{
        std::chrono::floor<std::chrono::microseconds>(loop_.now().time_since_epoch() + offset_)};
  }
  task<outcome<grant>> ask(request r, std::string sql, std::string_view doing);
  std::string insert(request r) const;
  std::string update(request r) const;

  loop& loop_;
  const table& rows_;
  const std::string id_;
  const bool client_time_;
  autocommit_pool statements_;
  duration offset_{};              // from the loop's time to the server's, since 1970
  std::set<std::uint32_t> known_;  // keys that have a row
  // By client, by key: until when it is held; what was left in doubt may be, too.
  std::vector<std::map<std::uint32_t, time_point>> held_;
};

task<void> shedlock_session::connect(time_point deadline) {
  co_await statements_.open(deadline);
  if (!client_time_) co_return;
  const request first{.deadline = deadline};
  const time_point asked = loop_.now();
  const outcome<answer> said = co_await statements_.ask(
      first, "SELECT CAST(UNIX_TIMESTAMP(NOW(6))*1000000 AS UNSIGNED)", "ask for the time");
  if (!said.done()) {
    throw no_server(fmt::format("{}: did not tell its time", statements_.where().shown()));
  }
  const duration server = std::chrono::microseconds{said.value().at(0, 1).number(0)};
  offset_ = server - (asked + (loop_.now() - asked) / 2).time_since_epoch();
}

std::string shedlock_session::insert(request r) const {
  return client_time_ ? by_client_time::insert(lock(r), r.lease, now())
                      : by_server_time::insert(lock(r), r.lease);
}

std::string shedlock_session::update(request r) const {
  return client_time_ ? by_client_time::update(lock(r), r.lease, now())
                      : by_server_time::update(lock(r), r.lease);
}

// Granted if a row was changed; the time counts from before the server was asked.
task<outcome<grant>> shedlock_session::ask(request r, std::string sql, std::string_view doing) {
  const grant until{.valid_until = loop_.now() + r.lease};
  const outcome<answer> end = co_await statements_.ask(r, std::move(sql), doing);
  if (end.in_doubt()) held_[r.client][r.key] = time_point::max();
  if (!end.done()) co_return end.without_value<grant>();
  if (end.value().affected == 0) co_return refusal::busy;
  held_[r.client][r.key] = until.valid_until;
  co_return until;
}

// ShedLock takes an INSERT that failed for a row that is there, and never tries again.
task<outcome<grant>> shedlock_session::acquire(request r) {
  if (known_.contains(r.key)) co_return co_await ask(r, update(r), "update a lock's row");
  const outcome<grant> inserted = co_await ask(r, insert(r), "insert a lock's row");
  const bool there = inserted.done() || inserted.refused(refusal::busy);
  if (there) known_.insert(r.key);
  if (!inserted.refused(refusal::busy)) co_return inserted;
  const outcome<grant> updated = co_await ask(r, update(r), "update a lock's row");
  if (updated.refused(refusal::deadline)) co_return refusal::busy;
  co_return updated;
}

task<outcome<grant>> shedlock_session::renew(request r) {
  if (!held_[r.client].contains(r.key)) co_return refusal::not_owner;
  std::string sql = client_time_ ? by_client_time::extend(lock(r), r.lease, now())
                                 : by_server_time::extend(lock(r), r.lease);
  const time_point before = held_[r.client][r.key];
  const outcome<grant> end = co_await ask(r, std::move(sql), "extend a lock's row");
  if (end.in_doubt()) held_[r.client][r.key] = std::max(before, loop_.now() + r.lease);
  if (end.refused(refusal::busy)) co_return refusal::not_owner;
  co_return end;
}

task<outcome<nothing>> shedlock_session::release(request r) {
  const auto held = held_[r.client].find(r.key);
  if (held == held_[r.client].end()) co_return refusal::not_owner;
  const bool in_time = loop_.now() < held->second;
  std::string sql =
      client_time_ ? by_client_time::unlock(lock(r), now()) : by_server_time::unlock(lock(r));
  const outcome<answer> end = co_await statements_.ask(r, std::move(sql), "unlock a lock's row");
  if (end.refused(refusal::busy)) co_return refusal::unavailable;
  if (!end.done()) co_return end.without_value<nothing>();
  held_[r.client].erase(r.key);
  if (end.value().affected == 0 || !in_time) co_return refusal::not_owner;
  co_return nothing{};
}

class shedlock_driver final : public table_driver {
 public:
  explicit shedlock_driver(const driver_setup& setup)
      : table_driver(setup, table{setup.run_names, shedlock_layout(setup.options.at("table"))}, {}),
        client_time_(setup.options.at("time") == "client") {}

  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override {
    auto s = std::make_unique<shedlock_session>(l, way(), rows(), who, client_time_);
    co_await s->connect(deadline);
    co_return s;
  }

 private:
  const bool client_time_;
};

bool is_table_name(std::string_view value) {
  return !value.empty() && value.size() <= 64 && std::ranges::all_of(value, [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
}

}  // namespace

lock_kind shedlock() {
  return {
      .name = "mysql/shedlock",
      .summary =
          "ShedLock's row with a time until which it is locked, by the server's clock or "
          "the clients'",
      .has = feature::lease | feature::renewable,
      .promises = safety::best_effort,
      .topologies = every_topology,
      .algorithm = "ShedLock 7.9.0, JDBC provider (INSERT or UPDATE of lock_until)",
      .options = {{.name = "time",
                   .values = "db, client",
                   .preset = "db",
                   .help = "whose clock decides; db is useDbTime()",
                   .accepts = is_one_of<"db", "client">},
                  {.name = "table",
                   .values = "own, or the name of a table",
                   .preset = "own",
                   .help = "a table shared with real ShedLock clients, made if it is not there, "
                           "never dropped",
                   .accepts = is_table_name}},
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        return std::make_unique<shedlock_driver>(setup);
      },
  };
}

}  // namespace lockmark::mysql
