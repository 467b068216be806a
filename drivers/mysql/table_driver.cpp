#include "drivers/mysql/table_driver.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "drivers/mysql/errors.hpp"

namespace lockmark::mysql {
namespace {

// Settings that decide a lock's speed and safety. A server leaves out the names it does not know.
constexpr std::string_view settings_query =
    "SHOW VARIABLES WHERE Variable_name IN ('version','version_comment','tx_isolation',"
    "'transaction_isolation','innodb_flush_log_at_trx_commit','sync_binlog','log_bin',"
    "'innodb_rollback_on_timeout','innodb_deadlock_detect','innodb_buffer_pool_size',"
    "'max_connections','thread_handling','wait_timeout','wsrep_on','wsrep_provider_version',"
    "'rpl_semi_sync_master_enabled','rpl_semi_sync_master_timeout',"
    "'rpl_semi_sync_master_wait_point')";

constexpr std::string_view counters_query =
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions','Com_select','Com_update','Com_commit',"
    "'Com_rollback','Com_kill','Innodb_row_lock_waits','Innodb_row_lock_time','Innodb_deadlocks',"
    "'Innodb_os_log_fsyncs','Bytes_received','Bytes_sent','Connections','Aborted_clients')";

// Keys whose commits are asked for by one statement.
constexpr std::uint32_t counted_at_once = 1000;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string counter_name(const std::string& variable) {
  if (variable == "Questions") return "commands";
  if (variable.starts_with("Com_")) return "cmd." + variable.substr(4);
  return lower(variable);
}

task<void> limit_waits(loop& l, connection& c, time_point deadline) {
  const auto left = std::chrono::floor<std::chrono::seconds>(deadline - l.now());
  co_await must(c, "limit the wait for the table",
                fmt::format("SET SESSION lock_wait_timeout={}", std::max<long>(1, left.count())),
                deadline);
}

// Empty: not told.
std::string setting(const description& said, std::string_view name) {
  const auto it = std::ranges::find(said, name, &description::value_type::first);
  return it == said.end() ? "" : it->second;
}

}  // namespace

std::string durability_of(const description& said) {
  const std::string flushed = setting(said, "server.innodb_flush_log_at_trx_commit");
  const std::string logs = setting(said, "server.log_bin");
  const std::string synced = setting(said, "server.sync_binlog");
  if (flushed.empty() || logs.empty()) return "";
  if (flushed != "1") return "all but 1 s";
  const bool has_log = logs == "ON" || logs == "1";
  if (!has_log || synced == "1") return "each commit";
  if (synced.empty()) return "";
  if (synced == "0") return "as the kernel writes";
  return fmt::format("all but {} commits", synced);
}

table_driver::table_driver(const driver_setup& setup, layout how, concerns about, maker make)
    : table_(setup.run_names, std::move(how)),
      way_(std::make_unique<route>(read_servers(setup.target),
                                   table_.exists() ? table_.name() : "")),
      concerns_(about),
      make_(std::move(make)) {
  prepare_library();
}

task<description> table_driver::prepare(loop& l, time_point deadline) {
  traffic unused;
  connection c{l, unused};
  co_await reach_or_throw(l, c, *way_, deadline);
  const time_point created_by = deadline + creating_within;
  co_await create(l, c, created_by);
  description said = co_await describe(c, created_by);
  c.quit();
  if (way_->all_write() && table_.exists()) co_await see_it_everywhere(l, created_by);
  co_return said;
}

// The wait is limited on the server too, or the table would still be created later.
task<void> table_driver::create(loop& l, connection& c, time_point deadline) {
  const std::string doing = fmt::format("create table {}", table_.bare_name());
  if (table_.exists()) co_await limit_waits(l, c, deadline);
  for (const std::string& step : table_.create()) {
    const answer a = co_await c.query(step, deadline);
    if (a.unknown) throw unanswered_change(sentence(c.where(), doing, a));
    if (!a.done()) throw no_server(sentence(c.where(), doing, a));
  }
}

task<std::unique_ptr<session>> table_driver::open(loop& l, instance who, time_point deadline) {
  std::unique_ptr<table_session> s = make_({l, *way_, table_, who});
  co_await s->connect(deadline);
  co_return s;
}

task<description> table_driver::describe(connection& c, time_point deadline) {
  description said;
  const answer settings =
      co_await must(c, "read the settings", std::string{settings_query}, deadline);
  for (std::size_t i = 0; i < settings.rows(); ++i) {
    const row r = settings.at(i, 2);
    const std::string_view value = r.cell(1).value_or("");
    said.emplace_back(fmt::format("server.{}", r.text(0)), value);
    if (r.text(0) != "version") continue;
    const bool mariadb = value.find("MariaDB") != value.npos;
    said.emplace_back("server.flavour", mariadb ? "MariaDB" : "MySQL");
  }
  if (std::string survives = durability_of(said); !survives.empty()) {
    said.emplace_back("server.durability", std::move(survives));
  }
  if (!table_.exists()) co_return said;
  const answer engine = co_await must(
      c, "read the table's engine",
      fmt::format("SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA=DATABASE() AND "
                  "TABLE_NAME={}",
                  literal(table_.bare_name())),
      deadline);
  if (engine.empty() || lower(std::string{engine.at(0, 1).cell(0).value_or("")}) != "innodb") {
    throw no_server(
        fmt::format("{}: table {} did not become an InnoDB table, and other engines "
                    "have no row locks",
                    c.where().shown(), table_.bare_name()));
  }
  said.emplace_back("server.engine", engine.at(0, 1).text(0));
  co_return said;
}

// A Galera node that has just been told of the table may not have made it yet.
task<void> table_driver::see_it_everywhere(loop& l, time_point deadline) {
  for (const endpoint& where : way_->hosts()) {
    traffic unused;
    connection c{l, unused};
    const connect_failure failure = co_await c.connect(where, deadline);
    if (failure.error != 0) continue;  // its instances will work elsewhere
    co_await must(c, "wait for the others' changes", "SET SESSION wsrep_sync_wait=1", deadline);
    co_await must(c, "see the run's table", fmt::format("SELECT COUNT(*) FROM {}", table_.name()),
                  deadline);
    c.quit();
  }
}

task<std::vector<finding>> table_driver::preflight(loop& l, demand load, time_point deadline) {
  traffic unused;
  connection c{l, unused};
  co_await reach_or_throw(l, c, *way_, deadline);
  std::vector<finding> found = co_await inspect(c, *way_, table_, concerns_, load, deadline);
  c.quit();
  co_return found;
}

// A transaction left open by a lost client keeps the table from being dropped until the server
// notices. The wait is limited on the server too, or the DROP would still happen later.
task<void> table_driver::wipe(loop& l, time_point deadline) {
  traffic unused;
  connection c{l, unused};
  co_await reach_or_throw(l, c, *way_, deadline);
  co_await limit_waits(l, c, deadline);
  for (const std::string& removal : table_.remove()) {
    co_await must(
        c, fmt::format("{} table {}", table_.shared() ? "clear" : "drop", table_.bare_name()),
        removal, deadline);
  }
  c.quit();
}

task<server_counters> table_driver::counters(loop& l, time_point deadline) {
  traffic unused;
  connection c{l, unused};
  co_await reach_or_throw(l, c, *way_, deadline);
  const answer a = co_await must(c, "read the status", std::string{counters_query}, deadline);
  c.quit();
  server_counters totals;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    const row r = a.at(i, 2);
    totals[counter_name(std::string{r.text(0)})] = r.number(1);
  }
  co_return totals;
}

// REQUIRES: a table with a column `value`.
task<std::vector<std::uint64_t>> table_driver::commits(loop& l, time_point deadline) {
  traffic unused;
  connection c{l, unused};
  co_await reach_or_throw(l, c, *way_, deadline);
  std::map<std::string, std::uint64_t> counted;  // by the key's literal
  for (std::uint32_t from = 0; from < table_.keys(); from += counted_at_once) {
    const std::uint32_t until = std::min(table_.keys(), from + counted_at_once);
    std::string wanted = table_.key(from);
    for (std::uint32_t k = from + 1; k < until; ++k) wanted += "," + table_.key(k);
    const answer a = co_await must(
        c, "read the commits",
        fmt::format("SELECT name,value FROM {} WHERE name IN ({})", table_.name(), wanted),
        deadline);
    for (std::size_t i = 0; i < a.rows(); ++i) {
      const row r = a.at(i, 2);
      counted[literal(r.text(0))] = r.number(1);
    }
    if (table_.rows_first() && counted.size() < until) {
      a.refuse(fmt::format("{} rows", a.rows()), "one for each key");
    }
  }
  c.quit();
  std::vector<std::uint64_t> all;
  for (std::uint32_t k = 0; k < table_.keys(); ++k) all.push_back(counted[table_.key(k)]);
  co_return all;
}

}  // namespace lockmark::mysql
