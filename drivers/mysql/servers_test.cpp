#include "drivers/mysql/servers.hpp"

#include <gmock/gmock.h>

#include "drivers/mysql/route.hpp"
#include "drivers/mysql/table_driver.hpp"
#include "harness/driver.hpp"

namespace lockmark::mysql {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string refusal_of(std::string_view url) {
  try {
    read_servers(url);
  } catch (const usage_error& e) {
    return e.what();
  }
  return "";
}

// Every part of a full URL is read.
TEST(servers, reads_all_parts) {
  const servers s = read_servers("mysql://lm:secret@db.example:3307,[::1]/locks?tls=yes&ca=/a.pem");
  ASSERT_EQ(s.hosts.size(), 2U);
  EXPECT_FALSE(s.galera);
  EXPECT_EQ(s.hosts[0].host, "db.example");
  EXPECT_EQ(s.hosts[0].port, 3307);
  EXPECT_EQ(s.hosts[0].user, "lm");
  EXPECT_EQ(s.hosts[0].password, "secret");
  EXPECT_EQ(s.hosts[0].database, "locks");
  EXPECT_TRUE(s.hosts[0].tls.on);
  EXPECT_EQ(s.hosts[0].tls.ca, "/a.pem");
  EXPECT_EQ(s.hosts[1].shown(), "mysql://[::1]:3306/locks");
}

// Missing parts have their defaults.
TEST(servers, have_defaults) {
  const servers s = read_servers("mysql+galera://127.0.0.1/locks");
  EXPECT_TRUE(s.galera);
  EXPECT_FALSE(s.all_write);
  EXPECT_EQ(s.hosts[0].user, "root");
  EXPECT_EQ(s.hosts[0].password, "");
  EXPECT_TRUE(read_servers("mysql+galera://a,b/locks?writers=all").all_write);
}

// Each mistake is named, and no sentence repeats the password.
TEST(servers, name_the_mistake) {
  EXPECT_THAT(refusal_of("redis://u:secret@h/1"), HasSubstr("mysql://"));
  EXPECT_THAT(refusal_of("mysql://u:secret@h"), HasSubstr("database"));
  EXPECT_THAT(refusal_of("mysql://u:secret@h:70000/d"), HasSubstr("65535"));
  EXPECT_THAT(refusal_of("mysql://u:secret@h/d?writers=all"), HasSubstr("writers"));
  EXPECT_THAT(refusal_of("mysql://u:secret@h/d?nat=a:1>b:2"), HasSubstr("nat"));
  EXPECT_THAT(refusal_of("mysql://u:secret@h/d?tls=yes&server-name=x"), HasSubstr("server-name"));
  for (const std::string_view url : {"mysql://u:secret@h", "mysql://u:secret%4@h/d",
                                     "x://u:secret@h/d", "mysql://u:secret@h:0/d"}) {
    EXPECT_THAT(refusal_of(url), Not(HasSubstr("secret"))) << url;
    EXPECT_NE(refusal_of(url), "") << url;
  }
}

// Instances share the first server, or take all in turn.
TEST(route, spreads_only_where_asked) {
  const route one{read_servers("mysql+galera://a,b,c/d")};
  EXPECT_EQ(one.at(0).host, "a");
  EXPECT_EQ(one.at(7).host, "a");
  const route all{read_servers("mysql+galera://a,b,c/d?writers=all")};
  EXPECT_EQ(all.at(0).host, "a");
  EXPECT_EQ(all.at(7).host, "b");
  EXPECT_TRUE(all.leads_to(all.hosts()[2], 2));
}

// --- durability ---

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
