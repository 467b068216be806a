// What a cycle of the real Redisson and Curator costs and what one of ours does, by the server's
// counts. Needs the clients of deploy/interop.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "deploy/local/cluster.hpp"
#include "deploy/local/versions.hpp"
#include "drivers/exec/exec.hpp"
#include "drivers/redis/test_servers.hpp"
#include "drivers/zookeeper/zookeeper.hpp"

namespace lockmark::exec {
namespace {

using namespace std::chrono_literals;
using redis::redis_cli;

constexpr std::uint64_t cycles = 20;

bool has_line(const std::vector<std::string>& said, std::string_view beginning) {
  return std::ranges::any_of(said, [&](const auto& one) { return one.starts_with(beginning); });
}

// Turns on the append-only files of all servers, and has each write on the disk at once: else a
// confirmation takes up to a second.
task<void> write_to_files(loop& l, const local::cluster& servers) {
  for (const local::server_info& server : servers.servers()) {
    if (!server.name.starts_with("redis")) continue;
    const std::string url = fmt::format("redis://127.0.0.1:{}", server.port);
    redis_cli(url, "CONFIG SET appendfsync always");
    redis_cli(url, "CONFIG SET appendonly yes");
    const time_point by = l.now() + 30s;
    while (!has_line(redis_cli(url, "INFO persistence"), "aof_rewrite_in_progress:0")) {
      if (l.now() > by) throw std::runtime_error("a server does not finish its file");
      co_await l.sleep_for(20ms);
    }
  }
}

// Returns how many cycles were whole.
task<std::uint64_t> take_and_give(loop& l, session& s, std::uint64_t times) {
  std::uint64_t whole = 0;
  for (std::uint64_t i = 0; i < times; ++i) {
    const auto got = co_await s.acquire(redis::by(l, 0, 20s));
    const auto given = co_await s.release(redis::by(l, 0, 20s));
    if (got.done() && given.done()) ++whole;
  }
  co_return whole;
}

struct counted {
  std::uint64_t whole = 0;  // cycles
  server_counters by_server{};
};

// The commands of locks; replicas, sentinels and counting have some of their own.
server_counters of_locks(server_counters all) {
  constexpr std::array others{"cmd.info", "cmd.role", "cmd.replconf", "cmd.ping",
                              "cmd.client|setname"};
  std::erase_if(all, [&](const auto& named) {
    const bool is_others = std::ranges::find(others, named.first) != others.end();
    return !named.first.starts_with("cmd.") || is_others;
  });
  return all;
}

// The counts once they rest: a client may still send what it does not wait for when its call has
// ended, as Redisson 3.52 does with the DEL of a lock's latch. Messages of sentinels never rest.
task<server_counters> counts_at_rest(loop& l, driver& counter) {
  constexpr int looks = 10;
  const auto without_messages = [](server_counters all) {
    all.erase("cmd.publish");
    return of_locks(std::move(all));
  };
  const time_point limit = l.now() + 5s;
  server_counters last;
  for (int same = 0; same < looks && l.now() < limit;) {
    server_counters now = co_await counter.counters(l, l.now() + 30s);
    same = without_messages(now) == without_messages(last) ? same + 1 : 0;
    last = std::move(now);
    co_await l.sleep_for(20ms);
  }
  co_return last;
}

// After one that is not counted: who begins asks what the server can, and loads its scripts.
task<counted> count_cycles(loop& l, session& s, driver& counter, std::uint64_t times) {
  counted all;
  co_await take_and_give(l, s, 1);
  const server_counters before = co_await counts_at_rest(l, counter);
  all.whole = co_await take_and_give(l, s, times);
  all.by_server = co_await counts_at_rest(l, counter);
  for (const auto& [name, number] : before) all.by_server[name] -= number;
  co_return all;
}

// Closes the session whatever happens: one of a real client that is left open keeps the loop alive.
// For a real client, prepare() and wipe() would start its program twice more, to change nothing.
task<void> count(loop& l, driver& d, bool is_real, driver& counter, std::uint64_t times,
                 counted& all) {
  if (!is_real) co_await d.prepare(l, l.now() + 60s);
  const instance who{.id = "inst", .session_timeout = 20s};
  const auto s = co_await d.open(l, who, l.now() + 60s);
  std::exception_ptr failure;
  try {
    all = co_await count_cycles(l, *s, counter, times);
  } catch (...) {
    failure = std::current_exception();
  }
  co_await s->close();
  if (failure) std::rethrow_exception(failure);
  if (!is_real) co_await d.wipe(l, l.now() + 60s);
}

// By a server whose counts our lock can read.
counted counts(const lock_kind& kind, const option_values& options, const lock_kind& ours,
               const std::string& url, std::uint64_t times = cycles) {
  const real_clock clock;
  loop l{clock};
  const auto counter = redis::driver_for(ours, url);
  counted all;
  const auto d = redis::driver_for(kind, url, options);
  run_to_end(l, count(l, *d, kind.name.starts_with("exec/"), *counter, times, all));
  return all;
}

server_counters costs(const lock_kind& kind, const std::string& url,
                      const option_values& options = {}) {
  const auto [whole, by_server] = counts(kind, options, redis::redisson(), url);
  EXPECT_EQ(whole, cycles);
  server_counters all = of_locks(by_server);
  std::erase_if(all, [](const auto& named) { return named.second == 0; });
  return all;
}

lock_kind client(std::string_view name) {
  for (const lock_kind& kind : kinds()) {
    if (kind.name == name) return kind;
  }
  throw std::logic_error(fmt::format("no client {}", name));
}

struct redissons : testing::Test {
  static void SetUpTestSuite() {
    setenv("LOCKMARK_JAVA_OPTIONS", "-Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1", 0);
  }
};

TEST_F(redissons, cost_what_ours_do) {
  const auto servers = local::cluster::start(local::of_version_under_test("redis"));
  const std::string& url = servers.target();
  const std::map<std::string, lock_kind> locks{
      {"lock", redis::redisson()},        {"fair", redis::redisson_fair()},
      {"spin", redis::redisson_spin()},   {"fenced", redis::redisson_fenced()},
      {"read", redis::redisson_read()},   {"write", redis::redisson_write()},
      {"multi", redis::redisson_multi()},
  };
  for (const auto& [kind, ours] : locks) {
    const server_counters wanted = costs(ours, url);
    for (const char* real : {"exec/redisson", "exec/redisson_3.52"}) {
      SCOPED_TRACE(fmt::format("{} {}", real, kind));
      EXPECT_EQ(costs(client(real), url, {{"kind", kind}}), wanted);
    }
  }
}

// By which command a lock has its writes confirmed: "WAIT", "WAITAOF". Few cycles, of which not all
// need to be whole: replicas tell once a second what they have synced, which is as long as Redisson
// waits.
std::string confirmed_by(const lock_kind& kind, const std::string& url,
                         const option_values& options = {}) {
  server_counters all = counts(kind, options, redis::redisson(), url, 3).by_server;
  return fmt::format("{}{}", all["cmd.wait"] > 0 ? "WAIT" : "",
                     all["cmd.waitaof"] > 0 ? "WAITAOF" : "");
}

// By WAITAOF where replicas have append-only files and the server can (Redis and Valkey from 7.2
// on), and by WAIT otherwise. The counted cycles come before the files: a disk that is slow keeps a
// replica from confirming in time, and then a cycle is not whole.
TEST_F(redissons, have_writes_confirmed_as_ours) {
  const auto servers = local::cluster::start(local::of_version_under_test("redis-sentinel"));
  const std::string& url = servers.target();
  const auto on_it = [&](const lock_kind& kind) {
    server_counters all = costs(kind, url);
    all.erase("cmd.publish");  // sentinels greet each other through the master
    return all;
  };
  const server_counters by_wait = on_it(redis::redisson());
  EXPECT_EQ(by_wait.at("cmd.wait"), 2 * cycles);
  EXPECT_EQ(on_it(client("exec/redisson")), by_wait);

  const real_clock clock;
  loop l{clock};
  run_to_end(l, write_to_files(l, servers));
  const bool can = redis_cli(redis::masters(url).at(0), "COMMAND INFO WAITAOF").size() > 1;
  const char* const by_file = can ? "WAITAOF" : "WAIT";
  EXPECT_EQ(confirmed_by(client("exec/redisson"), url), "WAIT");
  EXPECT_EQ(confirmed_by(client("exec/redisson_3.52"), url), by_file);
  EXPECT_EQ(confirmed_by(redis::redisson(), url, {{"wait_aof", "true"}}), by_file);
}

// ZooKeeper counts packets, of which some are pings: one of a session of 20 s in six seconds, and a
// stall lasts longer. Once a minute it also removes containers that are empty at that moment, as a
// queue is between two cycles, and a client makes a dozen requests to have one again. A request
// more in each cycle would be as many as there are cycles.
TEST(curators, cost_what_ours_do) {
  setenv("LOCKMARK_JAVA_OPTIONS", "-Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1", 0);
  constexpr std::uint64_t many = 60;  // two containers, a dozen requests each, are less than half
  const auto servers = local::cluster::start("zookeeper");
  struct twin {
    option_values real;
    lock_kind ours;
    option_values options;
  };
  const std::vector<twin> twins{
      {{{"kind", "mutex"}}, zookeeper::sequential(), {}},
      {{{"kind", "semaphore_mutex"}}, zookeeper::semaphore_mutex(), {}},
      {{{"kind", "semaphore"}, {"permits", "2"}}, zookeeper::semaphore(), {{"leases", "2"}}},
      {{{"kind", "read"}}, zookeeper::read(), {}},
      {{{"kind", "write"}}, zookeeper::write(), {}},
  };
  for (const twin& each : twins) {
    const auto packets = [&](const lock_kind& kind, const option_values& options) {
      const counted all = counts(kind, options, each.ours, servers.target(), many);
      EXPECT_EQ(all.whole, many);
      return static_cast<double>(all.by_server.at("packets_received"));
    };
    const double wanted = packets(each.ours, each.options);
    for (const char* real : {"exec/curator", "exec/curator_5.4"}) {
      EXPECT_NEAR(packets(client(real), each.real), wanted, many / 2.0 - 1)
          << real << " " << each.ours.name;
    }
  }
}

}  // namespace
}  // namespace lockmark::exec
