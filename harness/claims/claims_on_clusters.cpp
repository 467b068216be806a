// Failover, Redlock, ZooKeeper's sessions.
#include <fmt/format.h>

#include "harness/claims/verdicts.hpp"

namespace lockmark::claims {
namespace {

judgement failover_loses(const evidence& e) {
  return breaks(e, {"Sentinel", "Cluster"}, {"Sentinel, with WAIT", "Cluster, with WAIT"});
}

judgement goes_on(const evidence& e) {
  const auto gap = e.of("two down", "/longest_gap/length_ns");
  if (!gap) return missing("two down");
  const judgement safe = breaks(e, {}, {"two down"});
  const bool served = gap->most() < 1e9;
  return {safe.is == answer::confirmed && served ? answer::confirmed : answer::refuted,
          fmt::format("{}; longest time without a grant {}", safe.because,
                      show(*gap, unit::nanoseconds))};
}

judgement costs_more(const evidence& e) {
  return falls(e, {"one node", "five nodes"}, "/tps", unit::per_second);
}

judgement conflicts(const evidence& e) {
  const auto tries = e.of("redlock", "/cost_per_acquire/client_commands_per_grant");
  const auto alone = e.of("redlock, a key each", "/cost_per_acquire/client_commands_per_grant");
  if (!tries) return missing("redlock");
  if (!alone) return missing("redlock, a key each");
  const order o = compare(*tries, *alone);
  return {o == order::above   ? answer::confirmed
          : o == order::below ? answer::refuted
                              : answer::inconclusive,
          fmt::format("commands per grant: {} on one key of four masters, {} on a key each",
                      show(*tries, unit::plain), show(*alone, unit::plain))};
}

judgement gives_two(const evidence& e) {
  return breaks(e, {"clock jump", "restart without data"}, {});
}

judgement down_nodes_cost(const evidence& e) {
  const auto all_up = e.response("all up", 0.5);
  const auto silent = e.response("one silent", 0.5);
  if (!all_up) return missing("all up");
  if (!silent) return missing("one silent");
  const order o = compare(*silent, *all_up);
  return {o == order::above   ? answer::confirmed
          : o == order::below ? answer::refuted
                              : answer::inconclusive,
          fmt::format("p50 of an acquire: {} with all five, {} with one that is silent",
                      show(*all_up, unit::nanoseconds), show(*silent, unit::nanoseconds))};
}

judgement session_frees(const evidence& e) {
  const std::uint64_t never = e.never_recovered("zookeeper/sequential");
  const auto took = e.of("zookeeper/sequential", "/faults/0/recovery_ns");
  if (never > 0 || !took) return {answer::refuted, "the lock of a dead client was not freed"};
  return {answer::confirmed,
          fmt::format("free after {} (session timeout 4 s)", show(*took, unit::nanoseconds))};
}

judgement pause_loses(const evidence& e) {
  return breaks(e, {"zookeeper/sequential"}, {});
}

judgement leader_change_keeps(const evidence& e) {
  return breaks(e, {}, {"zookeeper/sequential"});
}

}  // namespace

std::vector<claim> claims_on_clusters() {
  return {
      {"5",
       "Asynchronous replication loses locks on failover (Sentinel, Cluster)",
       "A lock granted while its master cannot reach a replica is granted again after the "
       "failover; "
       "not if the client waits for a replica (WAIT).",
       {hurt("Sentinel", "failover_replication_cut", "redis/lua", "redis-sentinel"),
        hurt("Cluster", "failover_replication_cut", "redis/lua", "redis-cluster"),
        hurt("Sentinel, with WAIT", "failover_replication_cut", "redis/redisson", "redis-sentinel"),
        hurt("Cluster, with WAIT", "failover_replication_cut", "redis/redisson", "redis-cluster")},
       failover_loses},
      {"7a",
       "Redlock survives two of five nodes down",
       "No violation, and no second without a grant, while two of five masters are dead.",
       {hurt("two down", "redlock_two_down", "redis/redlock", "redis-independent")},
       goes_on},
      {"7b",
       "Redlock costs more than one node",
       "Grants per second on a key each: redis/set_nx_px on one master above redis/redlock on "
       "five.",
       {{"one node", "uncontended", "redis", "redis/set_nx_px", {}, ""},
        {"five nodes", "uncontended", "redis-independent", "redis/redlock", {}, ""}},
       costs_more},
      {"7c",
       "Redlock conflicts where nobody gets a majority",
       "With four masters left and 16 clients on one key, a grant takes more commands than on a "
       "key each.",
       {hurt("redlock", "redlock_even", "redis/redlock", "redis-independent"),
        {"redlock, a key each", "uncontended", "redis-independent", "redis/redlock", {}, ""}},
       conflicts},
      {"7d",
       "A jumping clock on one node, or a node that restarts empty, gives two holders",
       "While two of five are cut off, one of the three that hold the lock forgets it: two hold "
       "it, "
       "in every run.",
       {hurt("clock jump", "redlock_clock_jump", "redis/redlock", "redis-independent"),
        hurt("restart without data", "redlock_restart_empty", "redis/redlock",
             "redis-independent")},
       gives_two},
      {"7e",
       "Down nodes cost their timeout on every attempt",
       "With one of five masters stopped, the p50 of an acquire is clearly higher than with all.",
       {hurt("all up", "redlock_one_silent", "redis/redlock", "redis-independent",
             {"faults.1.at=1h"}),
        hurt("one silent", "redlock_one_silent", "redis/redlock", "redis-independent")},
       down_nodes_cost},
      {"8a",
       "ZooKeeper frees a dead client's lock by itself",
       "After the holder's process is killed the next grant comes, within the session timeout and "
       "a "
       "tick.",
       {hurt("zookeeper/sequential", "holder_killed", "zookeeper/sequential", "zookeeper-3")},
       session_frees},
      {"8b",
       "The session, not the client, decides: a paused client loses its lock",
       "A holder stopped for longer than its session: two hold it, in every run.",
       {hurt("zookeeper/sequential", "holder_paused", "zookeeper/sequential", "zookeeper-3")},
       pause_loses},
      {"8c",
       "A leader change does not lose a lock",
       "No violation when the leader is killed.",
       {hurt("zookeeper/sequential", "leader_killed", "zookeeper/sequential", "zookeeper-3")},
       leader_change_keeps},
  };
}

}  // namespace lockmark::claims
