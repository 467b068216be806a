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

// How the README has the table.
layout shedlock_layout(const std::string& table_option);

struct shedlock_lock {
  std::string table;  // quoted
  std::string name;   // literals
  std::string owner;
};

namespace by_server_time {
std::string insert(const shedlock_lock& l, duration lease);
std::string update(const shedlock_lock& l, duration lease);
std::string extend(const shedlock_lock& l, duration lease);
std::string unlock(const shedlock_lock& l);
}  // namespace by_server_time

namespace by_client_time {
std::string insert(const shedlock_lock& l, duration lease, utc_time now);
std::string update(const shedlock_lock& l, duration lease, utc_time now);
std::string extend(const shedlock_lock& l, duration lease, utc_time now);
std::string unlock(const shedlock_lock& l, utc_time now);
}  // namespace by_client_time

}  // namespace lockmark::mysql
