#include "drivers/postgres/lock_driver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "drivers/postgres/errors.hpp"

namespace lockmark::postgres {
namespace {

using namespace std::chrono_literals;

// Settings that decide a lock's speed and safety. A server leaves out the names it does not know.
constexpr const char* settings_query =
    "SELECT name, setting FROM pg_settings WHERE name IN ('server_version', 'fsync',"
    "'synchronous_commit', 'full_page_writes', 'wal_sync_method', 'wal_level', 'commit_delay',"
    "'synchronous_standby_names', 'max_connections', 'max_locks_per_transaction',"
    "'shared_buffers', 'autovacuum', 'checkpoint_timeout', 'deadlock_timeout', 'lock_timeout',"
    "'default_transaction_isolation', 'idle_in_transaction_session_timeout',"
    "'client_connection_check_interval')";

// Statements are not counted by the server. Its processes report once a second.
constexpr const char* counters_query =
    "SELECT xact_commit, xact_rollback, tup_inserted, tup_updated, tup_deleted, deadlocks,"
    " (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint"
    " FROM pg_stat_database WHERE datname = current_database()";
constexpr std::array counter_names{"transactions_committed",
                                   "transactions_rolled_back",
                                   "rows_inserted",
                                   "rows_updated",
                                   "rows_deleted",
                                   "deadlocks",
                                   "wal_bytes"};

// What is on the disk when the server says that a transaction is committed. Empty: unknown.
std::string_view durability_of(const description& said) {
  const auto setting = [&said](std::string_view name) -> std::string_view {
    const auto told = std::ranges::find(said, name, &description::value_type::first);
    return told == said.end() ? "" : std::string_view{told->second};
  };
  const std::string_view synced = setting("server.fsync");
  const std::string_view commit = setting("server.synchronous_commit");
  if (synced.empty() || commit.empty()) return "";
  if (synced == "off") return "none";
  return commit == "off" ? "all but 1 s" : "each commit";
}

// Statements that change what there is, in one transaction of limited waits: it is not yet there,
// or all of it. Throws no_server, or unanswered_change if the server does not say.
task<void> change_all(loop& l, connection& c, std::string doing, std::vector<std::string> all,
                      time_point deadline) {
  const auto left = std::chrono::floor<std::chrono::milliseconds>(deadline - l.now());
  all.insert(all.begin(), {"BEGIN", fmt::format("SET LOCAL lock_timeout = {}",
                                                std::max<long>(1, left.count()))});
  all.emplace_back("COMMIT");
  for (const std::string& sql : all) {
    const answer a = co_await c.query(sql, deadline);
    if (a.unknown) throw unanswered_change(sentence(c.where(), doing, a));
    if (!a.done()) throw no_server(sentence(c.where(), doing, a));
  }
}

}  // namespace

std::vector<std::string> writing_settings(const option_values& options) {
  const std::string& commit = options.at("synchronous_commit");
  std::vector<std::string> all{no_statement_timeout};
  if (commit != "server") all.push_back(fmt::format("SET synchronous_commit = {}", commit));
  return all;
}

lock_driver::lock_driver(const driver_setup& setup, layout how, concerns about, greeting hello,
                         maker make)
    : way_(std::make_unique<route>(read_servers(setup.target))),
      table_(setup.run_names, std::move(how)),
      concerns_(std::move(about)),
      hello_(std::move(hello)),
      make_(std::move(make)) {}

task<description> lock_driver::prepare(loop& l, time_point deadline) {
  traffic unused;
  connection c{l, unused};
  co_await reach_or_throw(l, c, *way_, deadline);
  // The settings that are described are those of the run's sessions.
  const greeting settings{.settings = hello_.settings, .prepared = {}};
  const answer greeted = co_await c.greet(settings, deadline);
  if (!greeted.done()) throw no_server(sentence(c.where(), "begin a session", greeted));
  const time_point created_by = deadline + creating_within;
  co_await create(l, c, created_by);
  description said = co_await describe(c, created_by);
  c.quit();
  co_return said;
}

task<void> lock_driver::create(loop& l, connection& c, time_point deadline) {
  if (!table_.exists()) co_return;
  std::vector<std::string> steps = table_.create();
  co_await change_all(l, c, fmt::format("create table {}", table_.name()), std::move(steps),
                      deadline);
}

task<description> lock_driver::describe(connection& c, time_point deadline) {
  description said;
  const answer settings = co_await must(c, "read the settings", settings_query, deadline);
  for (std::size_t i = 0; i < settings.rows(); ++i) {
    const row r = settings.at(i, 2);
    const std::string_view name = r.text(0);
    said.emplace_back(fmt::format("server.{}", name == "server_version" ? "version" : name),
                      r.cell(1).value_or(""));
  }
  const answer version = co_await must(c, "read the version", "SELECT version()", deadline);
  const std::string_view whole = version.at(0, 1).text(0);
  said.emplace_back("server.flavour", quotable(whole.substr(0, whole.find(' '))));
  said.emplace_back("server.pooled", c.is_pooled() ? "yes" : "no");
  if (const std::string_view survives = durability_of(said); !survives.empty()) {
    said.emplace_back("server.durability", survives);
  }
  co_return said;
}

task<std::unique_ptr<session>> lock_driver::open(loop& l, instance who, time_point deadline) {
  std::unique_ptr<lock_session> s = make_({l, *way_, hello_, who});
  co_await s->connect(deadline);
  co_return s;
}

task<std::vector<finding>> lock_driver::preflight(loop& l, demand load, time_point deadline) {
  traffic unused;
  connection c{l, unused};
  co_await reach_or_throw(l, c, *way_, deadline);
  std::vector<finding> found = co_await inspect(l, c, *way_, concerns_, load, deadline);
  c.quit();
  co_return found;
}

// A transaction left open by a lost client keeps the table from being dropped until the server
// notices.
task<void> lock_driver::wipe(loop& l, time_point deadline) {
  traffic unused;
  connection c{l, unused};
  co_await reach_or_throw(l, c, *way_, deadline);
  if (table_.exists()) {
    std::vector<std::string> steps = table_.remove();
    co_await change_all(l, c, fmt::format("drop table {}", table_.name()), std::move(steps),
                        deadline);
  }
  if (!concerns_.ids.empty() && !c.is_pooled()) co_await end_holders(l, c, deadline);
  c.quit();
}

// Sessions that hold the run's advisory locks although their clients are gone without a word. Not
// those of a pooler, which may serve others meanwhile: what has leaked there is in nobody's way,
// and ends when the pooler replaces them.
task<void> lock_driver::end_holders(loop& l, connection& c, time_point deadline) {
  const std::string sql = fmt::format(
      "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 "
      "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
      "AND ((classid::bigint << 32) | objid::bigint) IN ({})",
      fmt::join(concerns_.ids, ","));
  while (true) {
    const answer a = co_await must(c, "free the run's advisory locks", sql, deadline);
    if (a.empty()) co_return;
    co_await l.sleep_for(5ms);
  }
}

task<server_counters> lock_driver::counters(loop& l, time_point deadline) {
  traffic unused;
  connection c{l, unused};
  co_await reach_or_throw(l, c, *way_, deadline);
  const answer a = co_await must(c, "read the counters", counters_query, deadline);
  c.quit();
  const row r = a.at(0, counter_names.size());
  server_counters totals;
  for (std::size_t i = 0; i < counter_names.size(); ++i) totals[counter_names[i]] = r.number(i);
  co_return totals;
}

}  // namespace lockmark::postgres
