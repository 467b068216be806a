#include "drivers/mysql/shedlock_sql.hpp"

#include <fmt/core.h>

namespace lockmark::mysql {
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

shedlock_times by_server_time(duration lease) {
  return {.insert = "INSERT IGNORE INTO",
          .now = "UTC_TIMESTAMP(3)",
          .until = fmt::format("TIMESTAMPADD(MICROSECOND, {}, UTC_TIMESTAMP(3))",
                               lease / std::chrono::microseconds{1}),
          .unlock =
              "IF (TIMESTAMPADD(MICROSECOND, 0, locked_at) > UTC_TIMESTAMP(3), "
              "TIMESTAMPADD(MICROSECOND, 0, locked_at), UTC_TIMESTAMP(3))"};
}

shedlock_times by_client_time(duration lease, utc_time now) {
  const auto until = now + std::chrono::duration_cast<std::chrono::microseconds>(lease);
  const std::string text = fmt::format("'{}'", timestamp_text(now));
  return {.insert = "INSERT INTO",
          .now = text,
          .until = fmt::format("'{}'", timestamp_text(until)),
          .unlock = text};
}

std::string insert(const shedlock_lock& l, const shedlock_times& t) {
  return fmt::format("{} {}(name, lock_until, locked_at, locked_by) VALUES({}, {}, {}, {})",
                     t.insert, l.table, l.name, t.until, t.now, l.owner);
}

std::string update(const shedlock_lock& l, const shedlock_times& t) {
  return fmt::format(
      "UPDATE {0} SET lock_until = {1}, locked_at = {2}, locked_by = {3} "
      "WHERE name = {4} AND lock_until <= {2}",
      l.table, t.until, t.now, l.owner, l.name);
}

std::string extend(const shedlock_lock& l, const shedlock_times& t) {
  return fmt::format(
      "UPDATE {} SET lock_until = {} WHERE name = {} AND locked_by = {} AND lock_until > {}",
      l.table, t.until, l.name, l.owner, t.now);
}

std::string unlock(const shedlock_lock& l, const shedlock_times& t) {
  return fmt::format("UPDATE {} SET lock_until = {} WHERE name = {} AND locked_by = {}", l.table,
                     t.unlock, l.name, l.owner);
}

}  // namespace lockmark::mysql
