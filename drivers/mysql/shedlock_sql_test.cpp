#include "drivers/mysql/shedlock_sql.hpp"

#include <gtest/gtest.h>

namespace lockmark::mysql {
namespace {

using namespace std::chrono_literals;

const shedlock_lock job{.table = "`shedlock`", .name = "'job'", .owner = "'me'"};

// As in MySqlServerTimeStatementsSource, with the values filled in.
TEST(shedlock_by_server_time, is_the_originals) {
  const std::string until = "TIMESTAMPADD(MICROSECOND, 1500000, UTC_TIMESTAMP(3))";
  EXPECT_EQ(insert(job, by_server_time(1500ms)),
            "INSERT IGNORE INTO `shedlock`(name, lock_until, locked_at, locked_by) VALUES('job', " +
                until + ", UTC_TIMESTAMP(3), 'me')");
  EXPECT_EQ(update(job, by_server_time(1500ms)),
            "UPDATE `shedlock` SET lock_until = " + until +
                ", locked_at = UTC_TIMESTAMP(3), locked_by = 'me' WHERE name = 'job' AND "
                "lock_until <= UTC_TIMESTAMP(3)");
  EXPECT_EQ(extend(job, by_server_time(1500ms)),
            "UPDATE `shedlock` SET lock_until = " + until +
                " WHERE name = 'job' AND locked_by = 'me' AND lock_until > UTC_TIMESTAMP(3)");
}

// By the client's time, in UTC and milliseconds.
TEST(shedlock_by_client_time, is_the_originals) {
  const utc_time now{std::chrono::microseconds{1715933730250999}};
  EXPECT_EQ(timestamp_text(now), "2024-05-17 08:15:30.250");
  EXPECT_EQ(insert(job, by_client_time(1s, now)),
            "INSERT INTO `shedlock`(name, lock_until, locked_at, locked_by) VALUES('job', "
            "'2024-05-17 08:15:31.250', '2024-05-17 08:15:30.250', 'me')");
  EXPECT_EQ(unlock(job, by_client_time(1s, now)),
            "UPDATE `shedlock` SET lock_until = '2024-05-17 08:15:30.250' WHERE name = 'job' AND "
            "locked_by = 'me'");
}

}  // namespace
}  // namespace lockmark::mysql
