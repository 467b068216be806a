#include "drivers/mysql/durability.hpp"

#include <gtest/gtest.h>

namespace lockmark::mysql {
namespace {

std::string with(std::string flushed, std::string logs, std::string synced) {
  return durability_of({{"server.innodb_flush_log_at_trx_commit", std::move(flushed)},
                        {"server.log_bin", std::move(logs)},
                        {"server.sync_binlog", std::move(synced)}});
}

TEST(durability, is_as_both_logs_are_synced) {
  EXPECT_EQ(with("1", "OFF", "0"), "each commit");
  EXPECT_EQ(with("1", "ON", "1"), "each commit");
  EXPECT_EQ(with("1", "1", "0"), "as the kernel writes");
  EXPECT_EQ(with("1", "ON", "100"), "all but 100 commits");
  EXPECT_EQ(with("2", "ON", "1"), "all but 1 s");
  EXPECT_EQ(with("0", "OFF", "0"), "all but 1 s");
}

// Servers that speak the protocol and have other settings.
TEST(durability, is_unknown_where_it_is_not_told) {
  EXPECT_EQ(durability_of({{"server.version", "8.0"}}), "");
  EXPECT_EQ(durability_of({{"server.innodb_flush_log_at_trx_commit", "1"}}), "");
}

}  // namespace
}  // namespace lockmark::mysql
