// ShedLock's statements for MySQL and MariaDB, by either clock. Text only.
//
// Source: ShedLock 7.9.0, SqlStatementsSource (the client's time) and
// MySqlServerTimeStatementsSource (useDbTime), with lockAtLeastFor = 0.
#pragma once

#include <chrono>
#include <string>

#include "drivers/mysql/tables.hpp"
#include "harness/driver.hpp"

namespace lockmark::mysql {

// By a client's clock: microseconds since 1970, UTC.
using utc_time = std::chrono::sys_time<std::chrono::microseconds>;

// "2024-05-17 08:15:30.250"
std::string timestamp_text(utc_time t);

// The table as in ShedLock's README.
layout shedlock_layout(const std::string& table_option);

struct shedlock_lock {
  std::string table;  // quoted
  std::string name;   // literals
  std::string owner;
};

// The times in a statement, as SQL expressions.
struct shedlock_times {
  std::string_view insert;  // the keywords: only the server's statements ignore a row that is there
  std::string now;
  std::string until;   // the end of the lease
  std::string unlock;  // lock_until of an unlocked row
};
shedlock_times by_server_time(duration lease);
shedlock_times by_client_time(duration lease, utc_time now);

std::string insert(const shedlock_lock& l, const shedlock_times& t);
std::string update(const shedlock_lock& l, const shedlock_times& t);
std::string extend(const shedlock_lock& l, const shedlock_times& t);
std::string unlock(const shedlock_lock& l, const shedlock_times& t);

}  // namespace lockmark::mysql
