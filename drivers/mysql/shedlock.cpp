// mysql/shedlock: ShedLock's table and statements, as its JDBC provider (7.9.0) has them; their
// text is in shedlock_sql.cpp.
//
// acquire   INSERT of the key's row, once per process and key; where there is one already,
//           UPDATE ... SET lock_until, locked_by WHERE name AND lock_until <= now
// renew     UPDATE ... SET lock_until WHERE name AND locked_by AND lock_until > now
// release   UPDATE ... SET lock_until=now WHERE name AND locked_by; the row stays
//
// Each is a transaction of its own. A holder keeps an object that proves its hold and can unlock
// once. It may still unlock after its time, which does no harm; here that is refused as not owner,
// because the hold had ended. With time=client the clients' clocks decide, as by default in
// ShedLock; here they are set by the server's clock when a session opens, and run freely from then
// on.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/mysql.hpp"
#include "drivers/mysql/options.hpp"
#include "drivers/mysql/shedlock_sql.hpp"
#include "drivers/mysql/table_driver.hpp"

namespace lockmark::mysql {
namespace {

using namespace std::chrono_literals;

class shedlock_session final : public table_session {
 public:
  shedlock_session(const opening& o, bool client_time)
      : table_session(o), client_time_(client_time), held_(o.who.clients) {}

  task<void> connect(time_point deadline) override;
  task<outcome<grant>> acquire(request r) override;
  task<outcome<grant>> renew(request r) override;
  task<outcome<nothing>> release(request r) override;

 private:
  shedlock_lock lock(request r) const { return {rows_.name(), rows_.key(r.key), owner(r)}; }
  shedlock_times times(request r) const;
  task<outcome<grant>> hold(request r, std::string sql, std::string_view doing);

  const bool client_time_;
  duration offset_{};              // from the loop's time to the server's, since 1970
  std::set<std::uint32_t> known_;  // keys that have a row
  // By client, by key: the end of the lease. After a doubt, the key may be held as well.
  std::vector<std::map<std::uint32_t, time_point>> held_;
};

task<void> shedlock_session::connect(time_point deadline) {
  co_await table_session::connect(deadline);
  if (!client_time_) co_return;
  const request first{.deadline = deadline};
  const time_point asked = loop_.now();
  const outcome<answer> said = co_await ask(
      first, "SELECT CAST(UNIX_TIMESTAMP(NOW(6))*1000000 AS UNSIGNED)", "ask for the time");
  if (!said.done()) {
    throw no_server(fmt::format("{}: did not tell its time", pool_.where().shown()));
  }
  const duration server = std::chrono::microseconds{said.value().at(0, 1).number(0)};
  offset_ = server - (asked + (loop_.now() - asked) / 2).time_since_epoch();
}

shedlock_times shedlock_session::times(request r) const {
  if (!client_time_) return by_server_time(r.lease);
  const duration now = loop_.now().time_since_epoch() + offset_;
  return by_client_time(r.lease, utc_time{std::chrono::floor<std::chrono::microseconds>(now)});
}

// Granted if a row was changed; the time counts from before the server was asked.
task<outcome<grant>> shedlock_session::hold(request r, std::string sql, std::string_view doing) {
  const grant until{.valid_until = loop_.now() + r.lease};
  const outcome<answer> end = co_await ask(r, std::move(sql), doing);
  if (end.in_doubt()) held_[r.client][r.key] = time_point::max();
  if (!end.done()) co_return end.without_value<grant>();
  if (end.value().affected == 0) co_return refusal::busy;
  held_[r.client][r.key] = until.valid_until;
  co_return until;
}

// ShedLock takes a failed INSERT as proof of a row, and never inserts again.
task<outcome<grant>> shedlock_session::acquire(request r) {
  if (!known_.contains(r.key)) {
    std::string sql = insert(lock(r), times(r));
    const outcome<grant> inserted = co_await hold(r, std::move(sql), "insert a lock's row");
    if (inserted.done() || inserted.refused(refusal::busy)) known_.insert(r.key);
    if (!inserted.refused(refusal::busy)) co_return inserted;
  }
  std::string sql = update(lock(r), times(r));
  co_return co_await hold(r, std::move(sql), "update a lock's row");
}

task<outcome<grant>> shedlock_session::renew(request r) {
  if (!held_[r.client].contains(r.key)) co_return refusal::not_owner;
  const time_point before = held_[r.client][r.key];
  std::string sql = extend(lock(r), times(r));
  const outcome<grant> end = co_await hold(r, std::move(sql), "extend a lock's row");
  if (end.in_doubt()) held_[r.client][r.key] = std::max(before, loop_.now() + r.lease);
  if (end.refused(refusal::busy)) co_return refusal::not_owner;
  co_return end;
}

task<outcome<nothing>> shedlock_session::release(request r) {
  const auto held = held_[r.client].find(r.key);
  if (held == held_[r.client].end()) co_return refusal::not_owner;
  const bool in_time = loop_.now() < held->second;
  std::string sql = unlock(lock(r), times(r));
  const outcome<nothing> end =
      co_await change(r, std::move(sql), "unlock a lock's row", refusal::not_owner);
  if (!end.done() && !end.refused(refusal::not_owner)) co_return end;
  held_[r.client].erase(r.key);
  if (!in_time) co_return refusal::not_owner;
  co_return end;
}

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
      .cost = {2, 2},
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
        return std::make_unique<table_driver>(
            setup, shedlock_layout(setup.options.at("table")), concerns{},
            [client_time = setup.options.at("time") == "client"](const opening& o) {
              return std::make_unique<shedlock_session>(o, client_time);
            });
      },
  };
}

}  // namespace lockmark::mysql
