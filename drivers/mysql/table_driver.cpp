#include "drivers/mysql/table_driver.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "drivers/mysql/errors.hpp"

namespace lockmark::mysql {
namespace {

// What decides over a lock's speed and safety. Names that a server does not know are left out.
constexpr std::string_view settings_query =
    "SHOW VARIABLES WHERE Variable_name IN ('version','version_comment','tx_isolation',"
    "'transaction_isolation','innodb_flush_log_at_trx_commit','sync_binlog','log_bin',"
    "'innodb_rollback_on_timeout','innodb_deadlock_detect','innodb_buffer_pool_size',"
    "'max_connections','thread_handling','wait_timeout','wsrep_on')";

constexpr std::string_view counters_query =
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions','Com_select','Com_update','Com_commit',"
    "'Com_rollback','Com_kill','Innodb_row_lock_waits','Innodb_row_lock_time','Innodb_deadlocks',"
    "'Innodb_os_log_fsyncs','Bytes_received','Bytes_sent','Connections','Aborted_clients')";

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

}  // namespace

table_driver::table_driver(const driver_setup& setup, std::string_view suffix, std::string columns)
    : where_(parse_endpoint(setup.target)), table_(setup.run_names, suffix, std::move(columns)) {
  prepare_library();
}

task<description> table_driver::prepare(loop& l, time_point deadline) {
  traffic unused;
  connection c{l, where_, unused};
  co_await connect_or_throw(c, where_, deadline);
  co_await must(c, where_, "create table " + table_.bare_name(), table_.create(), deadline);
  for (const std::string& insert : table_.fill()) {
    co_await must(c, where_, "insert the run's keys", insert, deadline);
  }
  description said = co_await describe(c, deadline);
  c.quit();
  co_return said;
}

task<description> table_driver::describe(connection& c, time_point deadline) {
  description said;
  const answer settings =
      co_await must(c, where_, "read the settings", std::string{settings_query}, deadline);
  for (const auto& row : settings.rows) {
    said.emplace_back("server." + row[0], row[1]);
    if (row[0] != "version") continue;
    const bool mariadb = row[1].find("MariaDB") != std::string::npos;
    said.emplace_back("server.flavour", mariadb ? "MariaDB" : "MySQL");
  }
  const answer engine = co_await must(
      c, where_, "read the table's engine",
      fmt::format("SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA=DATABASE() AND "
                  "TABLE_NAME={}",
                  literal(table_.bare_name())),
      deadline);
  if (engine.rows.empty() || lower(engine.rows[0][0]) != "innodb") {
    throw no_server(
        fmt::format("{}: table {} did not become an InnoDB table, and other engines "
                    "have no row locks",
                    where_.shown(), table_.bare_name()));
  }
  said.emplace_back("server.engine", engine.rows[0][0]);
  co_return said;
}

// A transaction that a lost client left open keeps the table from being dropped until the server
// notices; so the wait is limited on the server, too, or the DROP would happen after all, later.
task<void> table_driver::wipe(loop& l, time_point deadline) {
  traffic unused;
  connection c{l, where_, unused};
  co_await connect_or_throw(c, where_, deadline);
  const auto left = std::chrono::floor<std::chrono::seconds>(deadline - l.now());
  co_await must(c, where_, "limit the wait for the table",
                fmt::format("SET SESSION lock_wait_timeout={}", std::max<long>(1, left.count())),
                deadline);
  co_await must(c, where_, "drop table " + table_.bare_name(), table_.drop(), deadline);
  c.quit();
}

task<server_counters> table_driver::counters(loop& l, time_point deadline) {
  traffic unused;
  connection c{l, where_, unused};
  co_await connect_or_throw(c, where_, deadline);
  const answer a =
      co_await must(c, where_, "read the status", std::string{counters_query}, deadline);
  c.quit();
  server_counters totals;
  for (const auto& row : a.rows) totals[counter_name(row[0])] = std::stoull(row[1]);
  co_return totals;
}

// REQUIRES: a table with a column `value`.
task<std::uint64_t> table_driver::commits(loop& l, std::uint32_t key, time_point deadline) {
  traffic unused;
  connection c{l, where_, unused};
  co_await connect_or_throw(c, where_, deadline);
  const answer a =
      co_await must(c, where_, "read the commits",
                    "SELECT value FROM " + table_.name() + table_.where(key), deadline);
  c.quit();
  expect_row(where_, a);
  co_return a.number(0);
}

}  // namespace lockmark::mysql
