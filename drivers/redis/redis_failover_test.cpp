// Locks while masters die, pause and hand slots to each other: calls end in time, doubtful endings
// are doubts, and locks are granted again as soon as there is a master again.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "deploy/local/cluster.hpp"
#include "drivers/redis/redis.hpp"
#include "drivers/redis/server_probe.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::redis {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t key_count = 6;
constexpr std::uint32_t clients = 3;  // of each of two instances

// An election can fail; Sentinel holds the next one ten seconds later.
constexpr duration for_a_failover = 60s;

using counts = std::array<std::uint64_t, key_count>;  // by key

// The results of all clients of a test together.
struct account {
  counts granted{};
  std::array<int, key_count> inside{};
  std::uint64_t overlaps = 0;
  std::uint64_t refused = 0;  // as unavailable
  std::uint64_t doubts = 0;
  std::uint64_t lost_holds = 0;
  duration latest{};  // the longest time that a call took beyond its limit
  std::atomic<bool> stop{false};
};

template <class T>
void note(account& a, loop& l, const request& r, const outcome<T>& ending) {
  a.latest = std::max(a.latest, l.now() - r.answer_by());
  if (ending.in_doubt()) ++a.doubts;
  if (ending.refused(refusal::unavailable)) ++a.refused;
  if (ending.refused(refusal::not_owner)) ++a.lost_holds;
}

request asking(loop& l, std::uint32_t client, std::uint32_t key, duration within) {
  return {.key = key, .client = client, .lease = 2s, .deadline = l.now() + within, .grace = 300ms};
}

task<void> lock_again_and_again(loop& l, session& s, std::uint32_t client, duration within,
                                account& a) {
  for (std::uint32_t turn = client; !a.stop; ++turn) {
    const std::uint32_t key = turn % key_count;
    const request r = asking(l, client, key, within);
    const auto got = co_await s.acquire(r);
    note(a, l, r, got);
    if (!got.done()) {
      co_await l.sleep_for(got.refused(refusal::busy) ? 1ms : 20ms);
      continue;
    }
    if (a.inside[key]++ > 0) ++a.overlaps;
    ++a.granted[key];
    co_await l.yield();
    --a.inside[key];
    const request back = asking(l, client, key, within);
    const auto gone = co_await s.release(back);
    note(a, l, back, gone);
  }
}

// Every key has been granted `more` times since `before`.
bool all_granted(const account& a, const counts& before, std::uint64_t more) {
  for (std::uint32_t k = 0; k < key_count; ++k) {
    if (a.granted[k] < before[k] + more) return false;
  }
  return true;
}

struct failover : testing::Test {
  std::unique_ptr<driver> make(const lock_kind& k, const std::string& url) {
    driver_setup setup{.target = url, .run_names = {"failover", {}}, .options = {}};
    for (std::uint32_t i = 0; i < key_count; ++i) {
      setup.run_names.keys.push_back(fmt::format("k{}", i));
    }
    for (const auto& o : k.options) setup.options.emplace(o.name, o.preset);
    return k.make(setup);
  }

  real_clock clock;
  loop l{clock};
};

task<void> hammer_while(loop& l, driver& d, duration within, account& a,
                        task<void> what_happens_meanwhile) {
  co_await d.prepare(l, l.now() + 10s);
  const instance one{.id = "one", .clients = clients}, two{.id = "two", .clients = clients};
  const auto s1 = co_await d.open(l, one, l.now() + 10s);
  const auto s2 = co_await d.open(l, two, l.now() + 10s);
  scope all{l};
  for (std::uint32_t i = 0; i < clients; ++i) {
    all.spawn(lock_again_and_again(l, *s1, i, within, a));
    all.spawn(lock_again_and_again(l, *s2, i, within, a));
  }
  co_await std::move(what_happens_meanwhile);
  a.stop = true;
  co_await all.join();
  co_await s1->close();
  co_await s2->close();
  co_await d.wipe(l, l.now() + for_a_failover);
}

task<void> lose(loop& l, local::cluster& servers, std::string name, int signal, account& a) {
  counts before{};
  while (!all_granted(a, before, 5)) co_await l.sleep_for(10ms);
  servers.kill(name, signal);
  before = a.granted;
  const time_point limit = l.now() + for_a_failover;
  while (!all_granted(a, before, 5) && l.now() < limit) co_await l.sleep_for(20ms);
  EXPECT_TRUE(all_granted(a, before, 5)) << "some key is not granted any more";
  if (signal == SIGSTOP) servers.kill(name, SIGCONT);
}

void expect_calls_to_end(const account& a) {
  EXPECT_LT(a.latest, 1s) << "a call outlasted its deadline";
  EXPECT_GT(a.refused + a.doubts, 0U) << "nobody noticed";
}

// A master that dies: calls in flight are in doubt, calls that could not be sent are refused, and
// the promoted replica grants again.
TEST_F(failover, sentinel_promotes_a_replica) {
  local::cluster servers = local::cluster::start("redis-sentinel");
  account a;
  const auto d = make(set_nx_px(), servers.target());
  run_to_end(l, hammer_while(l, *d, 500ms, a, lose(l, servers, "redis-1", SIGKILL, a)));
  expect_calls_to_end(a);
}

// Commands and subscriptions leave a paused master for another.
TEST_F(failover, sentinel_replaces_a_master_that_stands_still) {
  local::cluster servers = local::cluster::start("redis-sentinel");
  account a;
  const auto d = make(redisson(), servers.target());
  run_to_end(l, hammer_while(l, *d, 500ms, a, lose(l, servers, "redis-1", SIGSTOP, a)));
  expect_calls_to_end(a);
}

// The same in a Cluster, whose other masters continue meanwhile.
TEST_F(failover, a_cluster_promotes_a_replica) {
  local::cluster servers = local::cluster::start("redis-cluster");
  account a;
  const auto d = make(redisson(), servers.target());
  run_to_end(l, hammer_while(l, *d, 500ms, a, lose(l, servers, "redis-1", SIGKILL, a)));
  expect_calls_to_end(a);
}

// A paused node says nothing, not even that it has lost its slots.
TEST_F(failover, a_cluster_replaces_a_master_that_stands_still) {
  local::cluster servers = local::cluster::start("redis-cluster");
  account a;
  const auto d = make(redisson(), servers.target());
  run_to_end(l, hammer_while(l, *d, 500ms, a, lose(l, servers, "redis-1", SIGSTOP, a)));
  expect_calls_to_end(a);
}

// --- a slot that moves from master to master and back ---

struct mover {
  explicit mover(const std::string& target) : nodes(masters(target)) {
    for (const auto& n : nodes) ids.push_back(redis_cli(n, "CLUSTER MYID").at(0));
  }

  // The index of the master that serves the key.
  std::size_t home_of(const std::string& key) const {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (redis_cli(nodes[i], fmt::format("EXISTS '{}'", key)).at(0).find("MOVED") ==
          std::string::npos) {
        return i;
      }
    }
    throw std::runtime_error("nobody serves the key");
  }

  void move(int slot, std::size_t from, std::size_t to) const {
    redis_cli(nodes[to], fmt::format("CLUSTER SETSLOT {} IMPORTING {}", slot, ids[from]));
    redis_cli(nodes[from], fmt::format("CLUSTER SETSLOT {} MIGRATING {}", slot, ids[to]));
    poll(nullptr, 0, 30);  // now keys are on both sides, under load
    const std::string port = nodes[to].substr(nodes[to].rfind(':') + 1);
    while (true) {
      const auto keys = redis_cli(nodes[from], fmt::format("CLUSTER GETKEYSINSLOT {} 100", slot));
      if (keys.empty()) break;
      std::string words;
      for (const auto& k : keys) words += fmt::format(" '{}'", k);
      redis_cli(nodes[from], fmt::format("MIGRATE 127.0.0.1 {} '' 0 5000 KEYS{}", port, words));
    }
    for (const std::size_t i : {to, from}) {
      redis_cli(nodes[i], fmt::format("CLUSTER SETSLOT {} NODE {}", slot, ids[to]));
    }
  }

  // The number of answers with this error.
  std::uint64_t errors(const std::string& word) const {
    std::uint64_t all = 0;
    const std::string name = fmt::format("errorstat_{}:count=", word);
    for (const auto& n : nodes) {
      for (const auto& line : redis_cli(n, "INFO errorstats")) {
        if (line.starts_with(name)) all += std::stoull(line.substr(name.size()));
      }
    }
    return all;
  }

  std::vector<std::string> nodes, ids;
};

// Slot by slot, from one master to the next.
void move_slots_of_two_keys(const mover& m) {
  for (int round = 0; round < 4; ++round) {
    for (const char* key : {"lockmark:failover:k0", "lockmark:failover:k1"}) {
      const auto slot = redis_cli(m.nodes[0], fmt::format("CLUSTER KEYSLOT {}", key)).at(0);
      const std::size_t from = m.home_of(key);
      m.move(std::stoi(slot), from, (from + 1) % m.nodes.size());
    }
  }
}

task<void> move_slots(loop& l, std::string target, account& a) {
  std::atomic<bool> done{false};
  std::exception_ptr failure;
  std::thread thread{[&] {
    try {
      move_slots_of_two_keys(mover{target});
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
    done = true;
  }};
  while (!done) co_await l.sleep_for(10ms);
  thread.join();
  if (failure) std::rethrow_exception(failure);
  const counts before = a.granted;
  const time_point limit = l.now() + for_a_failover;
  while (!all_granted(a, before, 5) && l.now() < limit) co_await l.sleep_for(10ms);
  EXPECT_TRUE(all_granted(a, before, 5)) << "some key is not granted any more";
}

// Moving slots loses no hold, no message, no answer. Nodes redirected clients for good (MOVED) and
// for once (ASK), and had them try again for keys that were on two sides.
TEST_F(failover, slots_move_under_load) {
  const local::cluster servers = local::cluster::start("redis-cluster");
  for (const auto& kind : {set_nx_px(), redisson()}) {
    SCOPED_TRACE(kind.name);
    account a;
    const auto d = make(kind, servers.target());
    run_to_end(l, hammer_while(l, *d, 3s, a, move_slots(l, servers.target(), a)));
    EXPECT_EQ(a.doubts, 0U);
    EXPECT_EQ(a.refused, 0U);
    EXPECT_EQ(a.lost_holds, 0U);
    EXPECT_EQ(a.overlaps, 0U);
    EXPECT_LT(a.latest, 1s);
  }
  const mover m{servers.target()};
  for (const char* word : {"MOVED", "ASK", "TRYAGAIN"}) EXPECT_GT(m.errors(word), 0U) << word;
}

}  // namespace
}  // namespace lockmark::redis
