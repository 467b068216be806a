#include "drivers/mysql/shedlock_sql.hpp"

#include <fmt/core.h>

namespace lockmark::mysql {
namespace {

std::string until(duration lease) {
  return fmt::format("TIMESTAMPADD(MICROSECOND, {}, UTC_TIMESTAMP(3))",
                     lease / std::chrono::microseconds{1});
}

std::string until(duration lease, utc_time now) {
  return timestamp_text(now + std::chrono::duration_cast<std::chrono::microseconds>(lease));
}

}  // namespace

std::string timestamp_text(utc_time t) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(t);
  const auto day = std::chrono::floor<std::chrono::days>(ms);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{ms - day};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count(),
                     time.subseconds().count());
}

layout shedlock_layout(const std::string& table_option) {
  return {.suffix = "shedlock",
          .columns =
              ", lock_until TIMESTAMP(3) NOT NULL, locked_at TIMESTAMP(3) NOT NULL DEFAULT "
              "CURRENT_TIMESTAMP(3), locked_by VARCHAR(255) NOT NULL",
          .rows_first = false,
          .name_type = "VARCHAR(64)",
          .longest_name = 64,
          .shared_table = table_option == "own" ? "" : table_option};
}

std::string by_server_time::insert(const shedlock_lock& l, duration lease) {
  return fmt::format(
      "INSERT IGNORE INTO {}(name, lock_until, locked_at, locked_by) "
      "VALUES({}, {}, UTC_TIMESTAMP(3), {})",
      l.table, l.name, until(lease), l.owner);
}

std::string by_server_time::update(const shedlock_lock& l, duration lease) {
  return fmt::format(
      "UPDATE {} SET lock_until = {}, locked_at = UTC_TIMESTAMP(3), locked_by = {} "
      "WHERE name = {} AND lock_until <= UTC_TIMESTAMP(3)",
      l.table, until(lease), l.owner, l.name);
}

std::string by_server_time::extend(const shedlock_lock& l, duration lease) {
  return fmt::format(
      "UPDATE {} SET lock_until = {} WHERE name = {} AND locked_by = {} "
      "AND lock_until > UTC_TIMESTAMP(3)",
      l.table, until(lease), l.name, l.owner);
}

std::string by_server_time::unlock(const shedlock_lock& l) {
  return fmt::format(
      "UPDATE {} SET lock_until = IF (TIMESTAMPADD(MICROSECOND, 0, locked_at) > UTC_TIMESTAMP(3), "
      "TIMESTAMPADD(MICROSECOND, 0, locked_at), UTC_TIMESTAMP(3)) "
      "WHERE name = {} AND locked_by = {}",
      l.table, l.name, l.owner);
}

std::string by_client_time::insert(const shedlock_lock& l, duration lease, utc_time now) {
  return fmt::format(
      "INSERT INTO {}(name, lock_until, locked_at, locked_by) VALUES({}, '{}', '{}', {})", l.table,
      l.name, until(lease, now), timestamp_text(now), l.owner);
}

std::string by_client_time::update(const shedlock_lock& l, duration lease, utc_time now) {
  return fmt::format(
      "UPDATE {0} SET lock_until = '{1}', locked_at = '{2}', locked_by = {3} "
      "WHERE name = {4} AND lock_until <= '{2}'",
      l.table, until(lease, now), timestamp_text(now), l.owner, l.name);
}

std::string by_client_time::extend(const shedlock_lock& l, duration lease, utc_time now) {
  return fmt::format(
      "UPDATE {} SET lock_until = '{}' WHERE name = {} AND locked_by = {} AND lock_until > '{}'",
      l.table, until(lease, now), l.name, l.owner, timestamp_text(now));
}

std::string by_client_time::unlock(const shedlock_lock& l, utc_time now) {
  return fmt::format("UPDATE {} SET lock_until = '{}' WHERE name = {} AND locked_by = {}", l.table,
                     timestamp_text(now), l.name, l.owner);
}

}  // namespace lockmark::mysql
