#include "drivers/redis/connection.hpp"

#include <gtest/gtest.h>

#include "drivers/redis/lock_driver.hpp"
#include "drivers/redis/owner_lock.hpp"
#include "drivers/redis/redisson_protocol.hpp"
#include "drivers/redis/replies.hpp"

namespace lockmark::redis {
namespace {

reply error(std::string text) {
  reply r;
  r.what = reply::kind::error;
  r.text = std::move(text);
  return r;
}

// A server that cannot work at the moment refuses; any other error is nobody's outcome.
TEST(connection, judges_errors) {
  using form = target::form;
  for (const form how : {form::single, form::sentinel, form::cluster}) {
    EXPECT_EQ(judge(reply{}, how), verdict::answer);
    for (const char* text :
         {"LOADING Redis is loading the dataset in memory", "BUSY Redis is busy running a script",
          "MASTERDOWN Link with MASTER is down", "NOREPLICAS Not enough good replicas to write."}) {
      EXPECT_EQ(judge(error(text), how), verdict::not_now) << text;
    }
    EXPECT_EQ(judge(error("WRONGTYPE Operation against a key"), how), verdict::unexpected);
    EXPECT_EQ(judge(error("CROSSSLOT Keys in request don't hash"), how), verdict::unexpected);
  }
}

// A replica is an error with a single server, and a change of roles with several.
TEST(connection, judges_what_only_many_servers_say) {
  using form = target::form;
  for (const char* text : {"READONLY You can't write against a read only replica.",
                           "ERR Error running script (call to f_1): @user_script:1: -READONLY You "
                           "can't write against a read only replica."}) {
    EXPECT_EQ(judge(error(text), form::single), verdict::unexpected);
    EXPECT_EQ(judge(error(text), form::sentinel), verdict::not_now);
    EXPECT_EQ(judge(error(text), form::cluster), verdict::not_now);
  }
  for (const char* text : {"CLUSTERDOWN Hash slot not served", "CLUSTERDOWN The cluster is down",
                           "TRYAGAIN Multiple keys request during rehashing of slot"}) {
    EXPECT_EQ(judge(error(text), form::sentinel), verdict::unexpected);
    EXPECT_EQ(judge(error(text), form::cluster), verdict::not_now);
  }
}

// A Cluster routes by a command's first argument, and by a script's first key.
TEST(connection, knows_the_key_of_a_command) {
  std::string set, eval, ping;
  append_command(set, "SET", "key", "value");
  EXPECT_EQ(routing_key(set), "key");
  append_command(eval, "EVALSHA", std::string(40, 'a'), 2, "k1", "k2", "argument");
  EXPECT_EQ(routing_key(eval), "k1");
  append_command(ping, "PING");
  EXPECT_EQ(routing_key(ping), "");
}

// The command that an error's sentence names.
TEST(connection, names_the_command) {
  std::string out;
  append_command(out, "EVALSHA", "sha", 1);
  EXPECT_EQ(name_of_command(out), "EVALSHA");
}

// The failure is one sentence that names the server.
TEST(connection, has_a_sentence_for_what_broke) {
  const target t = parse_targets("redis://u:secret@h:1").front();
  EXPECT_EQ(sentence(t, std::make_error_code(std::errc::timed_out)),
            "redis://h:1 did not answer in time");
  EXPECT_EQ(sentence(t, asio::error::eof), "redis://h:1 closed the connection");
  EXPECT_EQ(sentence(t, std::make_error_code(std::errc::connection_refused)),
            "redis://h:1 cannot be reached: Connection refused");
}

TEST(wait_replicas, is_a_small_count) {
  const lock_option option = wait_replicas_option();
  for (const char* good : {"0", "1", "100"}) EXPECT_TRUE(option.accepts(good)) << good;
  for (const char* bad : {"", "-1", "101", "1x", "yes"}) EXPECT_FALSE(option.accepts(bad)) << bad;
  EXPECT_EQ(replicas_wanted({}), 0);
  EXPECT_EQ(replicas_wanted({{"wait_replicas", "2"}}), 2);
}

// The lock was taken and is certainly gone, or nobody knows.
TEST(wait_replicas, what_was_given_up_again_was_not_taken) {
  EXPECT_TRUE(ending_of_undone(nothing{}).refused(refusal::unavailable));
  EXPECT_TRUE(ending_of_undone(refusal::not_owner).refused(refusal::unavailable));
  EXPECT_TRUE(ending_of_undone(refusal::unavailable).in_doubt());
  EXPECT_TRUE(ending_of_undone(doubt::connection_lost).in_doubt());
}

// INFO's lines, by their whole name.
TEST(redis_info, finds_fields) {
  constexpr std::string_view info = "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n";
  EXPECT_EQ(info_field(info, "redis_version"), "7.0.15");
  EXPECT_EQ(info_field(info, "redis_mode"), "standalone");
  EXPECT_EQ(info_field(info, "redis"), "");
}

// Valkey's INFO, as of 9.1: it has no redis_mode.
TEST(redis_info, names_the_product) {
  constexpr std::string_view valkey =
      "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.1.2\r\n"
      "server_mode:standalone\r\n";
  EXPECT_EQ(product_in(valkey).name, "Valkey");
  EXPECT_EQ(product_in(valkey).version, "9.1.2");
  EXPECT_EQ(mode_in(valkey), "standalone");
  constexpr std::string_view redis = "redis_version:8.0.6\r\nredis_mode:cluster\r\n";
  EXPECT_EQ(product_in(redis).name, "Redis");
  EXPECT_EQ(product_in(redis).version, "8.0.6");
  EXPECT_EQ(mode_in(redis), "cluster");
  EXPECT_EQ(product_in("server_name:other\r\nredis_version:6.0\r\n").name, "other");
  EXPECT_EQ(mode_in("redis_version:6.0\r\n"), "");
}

TEST(redis_info, knows_who_can_wait_for_files) {
  for (const char* version : {"7.2.0", "7.2", "7.10.1", "8.0.6", "10.0"}) {
    EXPECT_TRUE(has_waitaof(fmt::format("redis_version:{}\r\n", version))) << version;
  }
  for (const char* version : {"7.0.15", "6.2.9", "7", "", "unknown"}) {
    EXPECT_FALSE(has_waitaof(fmt::format("redis_version:{}\r\n", version))) << version;
  }
}

// Calls per command, and the total.
TEST(redis_info, counts_commands) {
  const server_counters c = parse_counters(
      "# Commandstats\r\ncmdstat_set:calls=12,usec=3,usec_per_call=0.25\r\n"
      "cmdstat_client|setname:calls=2,usec=3\r\n",
      "# Stats\r\ntotal_connections_received:9\r\ntotal_commands_processed:77\r\n");
  EXPECT_EQ(c, (server_counters{{"commands", 77}, {"cmd.set", 12}, {"cmd.client|setname", 2}}));
}

// Keys carry the run's name; Redisson's names put it in braces, unless it has some.
TEST(redis_names, of_keys_channels_and_latches) {
  EXPECT_EQ(lock_key("r1", "k"), "lockmark:r1:k");
  std::string channel, latch, braced;
  append_channel(channel, "lockmark:r1:k");
  append_latch(latch, "lockmark:r1:k", "0123");
  append_channel(braced, "a{b}");
  EXPECT_EQ(channel, "redisson_lock__channel:{lockmark:r1:k}");
  EXPECT_EQ(latch, "redisson_unlock_latch:{lockmark:r1:k}:0123");
  EXPECT_EQ(braced, "redisson_lock__channel:a{b}");
}

// A lease is never shortened to whole milliseconds.
TEST(redis_names, leases_are_rounded_up) {
  EXPECT_EQ(milliseconds(std::chrono::seconds{30}), 30000);
  EXPECT_EQ(milliseconds(duration{1}), 1);
  EXPECT_EQ(milliseconds(duration{1'000'001}), 2);
}

}  // namespace
}  // namespace lockmark::redis
