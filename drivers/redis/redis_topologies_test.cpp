// The differences to a single plain server: waiting for replicas, sharded messages, TLS, several
// Clusters.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <functional>

#include "deploy/local/cluster.hpp"
#include "drivers/redis/lock_session.hpp"
#include "drivers/redis/redis.hpp"
#include "drivers/redis/server_probe.hpp"
#include "drivers/redis/slot.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::redis {
namespace {

using namespace std::chrono_literals;

struct topologies : testing::Test {
  static std::unique_ptr<driver> make(const lock_kind& k, const std::string& url,
                                      const option_values& options = {}) {
    driver_setup setup{.target = url, .run_names = {"topo", {"a"}}, .options = options};
    for (const auto& o : k.options) setup.options.emplace(o.name, o.preset);
    return k.make(setup);
  }

  real_clock clock;
  loop l{clock};
};

request by(loop& l, std::uint32_t client, duration within = 5s) {
  return {.key = 0, .client = client, .lease = 30s, .deadline = l.now() + within};
}

// --- replicas ---

struct cycle_result {
  std::string taken, given;  // the endings of both
  server_counters counted;   // by the servers
  traffic sent;
};

template <class T>
std::string say(const outcome<T>& o) {
  if (o.done()) return "done";
  return std::string{o.refused() ? name_of(o.why_refused()) : name_of(o.why_in_doubt())};
}

task<void> cycle(loop& l, driver& d, int times, cycle_result& result) {
  const auto soon = l.now() + 10s;
  co_await d.prepare(l, soon);
  const instance who{.id = "inst"};
  const auto s = co_await d.open(l, who, soon);
  const traffic before = s->sent();
  server_counters first = co_await d.counters(l, soon);
  for (int i = 0; i < times; ++i) {
    const auto got = co_await s->acquire(by(l, 0));
    result.taken = say(got);
    const auto gone = co_await s->release(by(l, 0));
    result.given = say(gone);
  }
  result.sent = s->sent();
  result.sent -= before;
  co_await s->close();
  for (const auto& [name, count] : co_await d.counters(l, soon)) {
    result.counted[name] = count - first[name];
  }
  co_await d.wipe(l, soon);
}

// Both of Redisson's scripts have WAIT behind them in the same packet.
TEST_F(topologies, redisson_waits_for_a_replica) {
  const auto servers = local::cluster::start("redis-sentinel");
  cycle_result seen;
  const auto d = make(redisson(), servers.target());
  run_to_end(l, cycle(l, *d, 10, seen));
  EXPECT_EQ(seen.taken, "done");
  EXPECT_EQ(seen.given, "done");
  EXPECT_EQ(seen.counted["cmd.evalsha"], 20U);
  EXPECT_EQ(seen.counted["cmd.eval"], 0U);
  EXPECT_EQ(seen.counted["cmd.wait"], 20U);
  EXPECT_EQ(seen.sent.round_trips, 21U);  // and INFO, once
}

task<void> cycle_without_scripts(loop& l, driver& d, const std::string& target,
                                 cycle_result& result) {
  const auto soon = l.now() + 10s;
  co_await d.prepare(l, soon);
  const instance who{.id = "inst"};
  const auto s = co_await d.open(l, who, soon);
  for (const std::string& master : masters(target)) redis_cli(master, "SCRIPT FLUSH");
  const server_counters first = co_await d.counters(l, soon);
  const auto got = co_await s->acquire(by(l, 0));
  result.taken = say(got);
  const auto gone = co_await s->release(by(l, 0));
  result.given = say(gone);
  result.counted = co_await d.counters(l, soon);
  for (const auto& [name, count] : first) result.counted[name] -= count;
  co_await s->close();
  co_await d.wipe(l, soon);
}

// As on a replica that was promoted: the text is sent, and WAIT behind it again.
TEST_F(topologies, a_master_without_redissons_scripts_is_sent_them) {
  for (const char* topology : {"redis-sentinel", "redis-cluster"}) {
    SCOPED_TRACE(topology);
    const auto servers = local::cluster::start(topology);
    cycle_result seen;
    const auto d = make(redisson(), servers.target());
    run_to_end(l, cycle_without_scripts(l, *d, servers.target(), seen));
    EXPECT_EQ(seen.taken, "done");
    EXPECT_EQ(seen.given, "done");
    EXPECT_EQ(seen.counted["cmd.eval"], 2U);
    EXPECT_EQ(seen.counted["cmd.wait"], 4U);
  }
}

// Replicas that confirm nothing: the lock is given up again, and nobody has it. Without the option
// they are not asked.
TEST_F(topologies, what_no_replica_confirms_is_not_taken) {
  auto servers = local::cluster::start("redis-sentinel");
  servers.kill("redis-2", SIGSTOP);
  servers.kill("redis-3", SIGSTOP);
  cycle_result seen, careless;
  const auto d = make(redisson(), servers.target());
  run_to_end(l, cycle(l, *d, 1, seen));
  EXPECT_EQ(seen.taken, "unavailable");
  EXPECT_EQ(seen.given, "not owner");
  EXPECT_EQ(seen.counted["cmd.hincrby"], 2U);  // taken, and given up
  const auto c = make(redisson(), servers.target(), {{"wait", "none"}});
  run_to_end(l, cycle(l, *c, 1, careless));
  EXPECT_EQ(careless.taken, "done");
  EXPECT_EQ(careless.counted["cmd.wait"], 0U);
}

task<void> hold_beyond_the_lease(loop& l, driver& d, server_counters& counted) {
  const auto soon = l.now() + 30s;
  co_await d.prepare(l, soon);
  const instance who{.id = "inst"};
  const auto s = co_await d.open(l, who, soon);
  const server_counters before = co_await d.counters(l, soon);
  request r = by(l, 0);
  r.lease = 1500ms;
  const auto got = co_await s->acquire(r);
  EXPECT_TRUE(got.done());
  co_await l.sleep_for(3s);
  counted = co_await d.counters(l, soon);
  for (const auto& [name, count] : before) counted[name] -= count;
  co_await s->close();
  co_await d.wipe(l, soon);
}

// Renewals are sent like all of Redisson's scripts. The server counts a WAIT when it is over, which
// that of the last renewal need not be.
TEST_F(topologies, redissons_watchdog_waits_for_a_replica) {
  const auto servers = local::cluster::start("redis-sentinel");
  server_counters counted;
  const auto d = make(redisson(), servers.target(), {{"watchdog", "true"}});
  run_to_end(l, hold_beyond_the_lease(l, *d, counted));
  EXPECT_GE(counted["cmd.wait"], 2U) << "the attempt, and a renewal";
  EXPECT_LE(counted["cmd.wait"], counted["cmd.evalsha"]);
  EXPECT_GE(counted["cmd.wait"] + 1, counted["cmd.evalsha"]);
}

// Locks that are a plain string wait for the number of replicas in their option, with WAIT in the
// same packet.
TEST_F(topologies, plain_locks_wait_for_as_many_replicas_as_told) {
  auto servers = local::cluster::start("redis-sentinel");
  for (const lock_kind& kind : {set_nx_px(), lua()}) {
    cycle_result seen, careless;
    const auto d = make(kind, servers.target(), {{"wait_replicas", "2"}});
    run_to_end(l, cycle(l, *d, 10, seen));
    EXPECT_EQ(seen.taken, "done") << kind.name;
    EXPECT_EQ(seen.given, "done") << kind.name;
    EXPECT_EQ(seen.counted["cmd.wait"], 10U) << kind.name;
    EXPECT_EQ(seen.sent.round_trips, 20U) << kind.name;
    const auto c = make(kind, servers.target());
    run_to_end(l, cycle(l, *c, 1, careless));
    EXPECT_EQ(careless.counted["cmd.wait"], 0U) << kind.name;
  }
  servers.kill("redis-3", SIGSTOP);
  for (const lock_kind& kind : {set_nx_px(), lua()}) {
    cycle_result with_one, with_two;
    const auto one = make(kind, servers.target(), {{"wait_replicas", "1"}});
    run_to_end(l, cycle(l, *one, 1, with_one));
    EXPECT_EQ(with_one.taken, "done") << kind.name;
    const auto two = make(kind, servers.target(), {{"wait_replicas", "2"}});
    run_to_end(l, cycle(l, *two, 1, with_two));
    EXPECT_EQ(with_two.taken, "unavailable") << kind.name;
    EXPECT_EQ(with_two.given, "not owner") << kind.name << ": it was given up again";
  }
}

// --- messages in a Cluster ---

task<void> take_and_note(loop& l, session& s, std::uint32_t client, int& granted) {
  const auto got = co_await s.acquire(by(l, client));
  if (!got.done()) co_return;
  ++granted;
  const auto gone = co_await s.release(by(l, client));
  EXPECT_TRUE(gone.done());
}

std::size_t subscribers(const std::string& target) {
  std::size_t all = 0;
  for (const auto& node : masters(target)) {
    const auto said =
        redis_cli(node, "PUBSUB SHARDCHANNELS 'redisson_lock__channel:{lockmark:topo:a}'");
    all += said.size();
  }
  return all;
}

task<void> wake_waiters(loop& l, driver& d, std::string target) {
  const auto soon = l.now() + 10s;
  co_await d.prepare(l, soon);
  const instance h{.id = "holder"}, w{.id = "waiter", .clients = 2};
  const auto holder = co_await d.open(l, h, soon);
  const auto waiter = co_await d.open(l, w, soon);
  const auto held = co_await holder->acquire(by(l, 0));
  EXPECT_TRUE(held.done());
  scope waiting{l};
  int granted = 0;
  waiting.spawn(take_and_note(l, *waiter, 0, granted));
  waiting.spawn(take_and_note(l, *waiter, 1, granted));
  for (int i = 0; subscribers(target) == 0 && i < 500; ++i) co_await l.sleep_for(1ms);
  EXPECT_EQ(subscribers(target), 1U);
  co_await l.sleep_for(50ms);  // both have asked again and wait now
  const auto gone = co_await holder->release(by(l, 0));
  EXPECT_TRUE(gone.done());
  co_await waiting.join();
  EXPECT_EQ(granted, 2);
  EXPECT_GE(waiter->sent().wakeups, 2U);
  co_await holder->close();
  co_await waiter->close();
  co_await d.wipe(l, soon);
}

// A message goes only to the node of the lock's slot, and the instance is subscribed there.
TEST_F(topologies, a_cluster_shards_redissons_messages) {
  const auto servers = local::cluster::start("redis-cluster");
  const auto d = make(redisson(), servers.target());
  run_to_end(l, wake_waiters(l, *d, servers.target()));
  std::size_t published = 0;
  for (const auto& node : masters(servers.target())) {
    for (const auto& line : redis_cli(node, "INFO commandstats")) {
      if (line.starts_with("cmdstat_spublish:")) ++published;
      EXPECT_FALSE(line.starts_with("cmdstat_publish:")) << line;
    }
  }
  EXPECT_EQ(published, 1U);
}

// --- TLS ---

task<void> try_to_cycle(loop& l, driver& d, std::string& why) {
  cycle_result result;
  try {
    co_await cycle(l, d, 3, result);
    why = result.taken;
  } catch (const std::runtime_error& e) {
    why = e.what();
  }
}

struct tls_server : topologies {
  static void SetUpTestSuite() {
    server = std::make_unique<local::cluster>(local::cluster::start("redis-tls"));
  }
  static void TearDownTestSuite() { server.reset(); }

  // The endings of a few cycles at `url`.
  std::string outcome_at(const std::string& url) {
    std::string why;
    const auto d = make(lua(), url);
    run_to_end(l, try_to_cycle(l, *d, why));
    return why;
  }
  static std::string file(const char* name) {
    return fmt::format("{}/redis/{}", server->directory(), name);
  }
  static std::string without_query() {
    return server->target().substr(0, server->target().find('?'));
  }
  // redis-cli with TLS.
  static void configure(const std::string& what) {
    const std::string url = without_query();
    const auto at = url.find('@');
    const std::string login = url.substr(url.find("://") + 3, at - url.find("://") - 3);
    const std::string command = fmt::format(
        "redis-cli --no-auth-warning --tls --cacert {} --cert {} --key {} -h 127.0.0.1 -p {} "
        "--user lockmark --pass {} {} >/dev/null",
        file("ca.pem"), file("client.pem"), file("client.key"), url.substr(url.rfind(':') + 1),
        login.substr(login.find(':') + 1), what);
    ASSERT_EQ(std::system(command.c_str()), 0) << what;
  }

  static std::unique_ptr<local::cluster> server;
};
std::unique_ptr<local::cluster> tls_server::server;

// By user and password, over TLS.
TEST_F(tls_server, lets_in_who_trusts_it) {
  EXPECT_EQ(outcome_at(server->target()), "done");
  EXPECT_EQ(outcome_at(without_query() + "?verify=no"), "done");
}

// An untrusted peer is refused in one sentence with the reason and without the password.
TEST_F(tls_server, is_refused_without_trust) {
  const std::string url = without_query();
  const std::string place = fmt::format("rediss://{}", url.substr(url.find('@') + 1));
  EXPECT_EQ(outcome_at(fmt::format("{}?ca={}", url, file("client.pem"))),
            place +
                " cannot be reached: certificate verify failed: self-signed certificate in "
                "certificate chain");
  EXPECT_EQ(outcome_at(server->target() + "&server-name=example.org"),
            place + " cannot be reached: certificate verify failed: hostname mismatch");
  EXPECT_THROW(make(lua(), url + "?ca=/no/such/file"), usage_error);
  const std::string plain = fmt::format("redis://{}", url.substr(url.find("//") + 2));
  EXPECT_NE(outcome_at(plain), "done");
}

// A server that wants a client certificate gets it; without one, the refusal says so.
TEST_F(tls_server, asks_for_a_client_certificate) {
  configure("CONFIG SET tls-auth-clients yes");
  const std::string with =
      fmt::format("{}&cert={}&key={}", server->target(), file("client.pem"), file("client.key"));
  EXPECT_EQ(outcome_at(with), "done");
  const std::string without = outcome_at(server->target());
  const bool says_why = without.find("certificate required") != without.npos ||
                        without.find("may want a client certificate") != without.npos;
  EXPECT_TRUE(says_why) << without;
  configure("CONFIG SET tls-auth-clients optional");
}

// --- several Clusters ---

// Takes all keys, looks, and leaves.
task<void> hold_all(loop& l, driver& d, std::size_t keys, std::function<void()> look) {
  const auto soon = l.now() + 20s;
  co_await d.prepare(l, soon);
  const instance who{.id = "inst"};
  const auto s = co_await d.open(l, who, soon);
  for (std::uint32_t key = 0; key < keys; ++key) {
    request r = by(l, 0);
    r.key = key;
    const auto got = co_await s->acquire(r);
    EXPECT_EQ(say(got), "done") << key;
  }
  look();
  co_await s->close();
  co_await d.wipe(l, soon);
}

// Each Cluster is found from one node, and has the keys that their hash gives it, on all masters.
TEST_F(topologies, shards_over_clusters) {
  const auto one = local::cluster::start("redis-cluster");
  const auto other = local::cluster::start("redis-cluster");
  const std::array clusters{one.target(), other.target()};
  driver_setup setup{
      .target = fmt::format("redis+clusters://127.0.0.1:{},127.0.0.1:{}",
                            one.servers().front().port, other.servers().front().port),
      .run_names = {"topo", {}},
      .options = {}};
  std::array<std::vector<std::string>, 2> shares;
  for (int n = 0; n < 12; ++n) {
    setup.run_names.keys.push_back(fmt::format("k{}", n));
    const std::string name = lock_key("topo", setup.run_names.keys.back());
    shares.at(shard_of(name, 2)).push_back(name);
  }
  const auto d = sharded().make(setup);
  const std::function<void()> look = [&] {
    for (const std::size_t n : {0, 1}) {
      EXPECT_FALSE(shares.at(n).empty());
      EXPECT_THAT(keys_of_run(clusters.at(n), setup.run_names),
                  testing::UnorderedElementsAreArray(shares.at(n)));
    }
  };
  run_to_end(l, hold_all(l, *d, setup.run_names.keys.size(), look));
  for (const std::string& url : clusters) EXPECT_TRUE(keys_of_run(url, setup.run_names).empty());
}

}  // namespace
}  // namespace lockmark::redis
