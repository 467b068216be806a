// The server's cost of an uncontended cycle of each lock.
#include <gtest/gtest.h>

#include "deploy/local/cluster.hpp"
#include "deploy/local/versions.hpp"
#include "drivers/redis/test_servers.hpp"

namespace lockmark::redis {
namespace {

struct costs {
  std::map<std::string, std::uint64_t> seen;  // by the server, also within scripts
  std::uint64_t commands = 0;                 // sent
  std::uint64_t round_trips = 0;
};

struct cost_server {
  static constexpr const char* topology = "redis";
};
using redis_costs = servers_test<cost_server>;

// The costs of one cycle, as the average of ten.
task<void> count_cycles(loop& l, driver& d, costs& of_one) {
  const auto soon = l.now() + 5s;
  co_await d.prepare(l, soon);
  const instance who{.id = "inst"};
  const auto s = co_await d.open(l, who, soon);
  traffic sent = s->sent();
  server_counters first = co_await d.counters(l, soon);
  for (int i = 0; i < 10; ++i) {
    const auto got = co_await s->acquire(by(l, 0));
    EXPECT_TRUE(got.done());
    const auto given = co_await s->release(by(l, 0));
    EXPECT_TRUE(given.done());
  }
  traffic all = s->sent();
  all -= sent;
  of_one.commands = all.commands / 10;
  of_one.round_trips = all.round_trips / 10;
  co_await s->close();
  const server_counters last = co_await d.counters(l, soon);
  for (const auto& [name, count] : last) {
    const bool by_counting = name == "cmd.info" || name == "cmd.client|setname";
    const auto more = count - first[name];
    if (name.starts_with("cmd.") && more > 0 && !by_counting)
      of_one.seen[name.substr(4)] = more / 10;
  }
  co_await d.wipe(l, soon);
}

using counts = std::map<std::string, std::uint64_t>;

counts and_also(counts some, const counts& more) {
  for (const auto& [name, count] : more) some[name] += count;
  return some;
}

counts without(counts some, const std::string& name) {
  some.erase(name);
  return some;
}

const counts string_by_script{{"set", 1}, {"evalsha", 1}, {"get", 1}, {"del", 1}};
const counts rlock{{"evalsha", 2}, {"exists", 1}, {"hincrby", 2}, {"pexpire", 1}, {"get", 1},
                   {"hexists", 1}, {"del", 2},    {"publish", 1}, {"set", 1}};
const counts in_sequence = and_also(rlock, {{"evalsha", 1}, {"pexpire", 1}});

const counts fair{{"evalsha", 2}, {"lindex", 3}, {"exists", 3},  {"lpop", 1}, {"zrem", 1},
                  {"zrange", 1},  {"hset", 1},   {"pexpire", 1}, {"get", 1},  {"hexists", 1},
                  {"hincrby", 1}, {"del", 2},    {"set", 1}};
const counts reader{{"evalsha", 2}, {"hget", 2},    {"hset", 2}, {"hincrby", 1},
                    {"set", 2},     {"pexpire", 2}, {"get", 1},  {"hexists", 1},
                    {"hdel", 1},    {"hlen", 1},    {"del", 3},  {"publish", 1}};
const counts writer{{"evalsha", 2}, {"hget", 2},    {"hset", 2}, {"hincrby", 1},
                    {"set", 1},     {"pexpire", 1}, {"get", 1},  {"hexists", 1},
                    {"hdel", 1},    {"hlen", 1},    {"del", 2},  {"publish", 1}};

const std::map<std::string_view, costs>& expected() {
  static const std::map<std::string_view, costs> all{
      {"redis/setnx", {{{"setnx", 1}, {"del", 1}}, 2, 2}},
      {"redis/setnx_expire", {{{"setnx", 1}, {"expire", 1}, {"del", 1}}, 3, 3}},
      {"redis/getset", {{{"setnx", 1}, {"del", 1}}, 2, 2}},
      {"redis/set_nx_px", {string_by_script, 2, 2}},
      {"redis/sharded", {string_by_script, 2, 2}},
      {"redis/redlock", {string_by_script, 2, 2}},
      {"redis/lua", {{{"evalsha", 2}, {"setnx", 1}, {"pexpire", 1}, {"get", 1}, {"del", 1}}, 2, 2}},
      {"redis/lua_reentrant",
       {{{"evalsha", 2}, {"exists", 1}, {"hexists", 1}, {"hincrby", 2}, {"pexpire", 1}, {"del", 1}},
        2,
        2}},
      {"redis/redisson", {rlock, 3, 2}},
      {"redis/redisson_spin", {without(rlock, "publish"), 3, 2}},
      {"redis/redisson_fenced", {and_also(rlock, {{"incr", 1}}), 3, 2}},
      {"redis/redisson_fair", {fair, 3, 2}},
      {"redis/redisson_read", {reader, 3, 2}},
      {"redis/redisson_write", {writer, 3, 2}},
      {"redis/redisson_multi", {and_also(and_also(in_sequence, in_sequence), in_sequence), 12, 9}},
      {"redis/redisson_red", {in_sequence, 4, 3}},
  };
  return all;
}

// A cycle sends the commands of its algorithm and nothing else.
TEST_F(redis_costs, are_those_of_the_algorithm) {
  for (const auto& k : kinds()) {
    SCOPED_TRACE(k.name);
    costs of_one;
    const auto d = driver_for(k, url());
    run_to_end(l, count_cycles(l, *d, of_one));
    const costs& right = expected().at(k.name);
    EXPECT_EQ(of_one.seen, right.seen);
    EXPECT_EQ(of_one.commands, right.commands);
    EXPECT_EQ(of_one.round_trips, right.round_trips);
  }
}

const lock_kind* find(std::string_view name) {
  static const auto all = kinds();
  return &*std::ranges::find(all, name, &lock_kind::name);
}

// The options that make a lock what is often copied cost what that costs.
TEST_F(redis_costs, are_those_of_the_algorithm_with_options) {
  struct variant {
    std::string_view lock;
    option_values options;
    costs right;
  };
  const std::vector<variant> all{
      {"redis/setnx", {{"grant", "exists"}}, {{{"setnx", 1}, {"exists", 1}, {"del", 1}}, 3, 3}},
      {"redis/lua",
       {{"script", "loaded"}},
       {{{"script|load", 2},
         {"script|exists", 2},
         {"eval", 2},
         {"setnx", 1},
         {"pexpire", 1},
         {"get", 1},
         {"del", 1}},
        6,
        6}},
  };
  for (const variant& v : all) {
    SCOPED_TRACE(v.lock);
    costs of_one;
    const auto d = driver_for(*find(v.lock), url(), v.options);
    run_to_end(l, count_cycles(l, *d, of_one));
    EXPECT_EQ(of_one.seen, v.right.seen);
    EXPECT_EQ(of_one.commands, v.right.commands);
    EXPECT_EQ(of_one.round_trips, v.right.round_trips);
  }
}

// A Cluster would send SCRIPT LOAD to the node of a key that is called LOAD.
TEST(lua_loaded, is_none_for_a_cluster) {
  real_clock clock;
  loop l{clock};
  const auto d =
      driver_for(*find("redis/lua"), "redis+cluster://127.0.0.1:1", {{"script", "loaded"}});
  std::string said;
  run_to_end(l, [](loop& on, driver& asked, std::string& why) -> task<void> {
    try {
      const instance who{.id = "inst"};
      co_await asked.open(on, who, on.now() + 1s);
    } catch (const usage_error& wrong) {
      why = wrong.what();
    }
  }(l, *d, said));
  EXPECT_NE(said.find("SCRIPT LOAD"), said.npos) << said;
}

}  // namespace
}  // namespace lockmark::redis
