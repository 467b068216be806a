#include "workloads/fault_catalogue.hpp"

#include "harness/base/glob.hpp"

namespace lockmark::workloads {
namespace {

// One server of each kind, and five for the locks that need them.
constexpr std::string_view plain = "redis redis-independent zookeeper etcd mysql postgres";
// Our locks on these servers, without the real clients, which run where they could be built.
constexpr std::string_view ours = "redis/* zookeeper/* etcd/* mysql/* postgres/*";
// The locks of ZooKeeper and etcd have no lease of their own, but a session's.
constexpr std::string_view leasing = "redis/* mysql/* postgres/*";
constexpr std::string_view leasing_servers = "redis redis-independent mysql postgres";
constexpr std::string_view replicated = "redis/set_nx_px redis/lua redis/redisson";
constexpr std::string_view plain_strings = "redis/set_nx_px redis/lua";
constexpr std::string_view rows = "mysql/unique_key mysql/unique_key_reentrant";
constexpr std::string_view of_each_kind =
    "postgres/advisory postgres/for_update postgres/unique_key postgres/lease_row";
constexpr std::string_view redis_failover = "redis-sentinel redis-cluster";
constexpr std::string_view zookeepers = "zookeeper/ephemeral zookeeper/sequential";
// A user's program, for the servers it is told of. Not used for pauses: lockmark is in front of it,
// and would be paused in its place.
constexpr std::string_view programs = "exec/lock";

}  // namespace

const std::vector<scenario>& fault_catalogue() {
  static const std::vector<scenario> all{
      {"holder_killed", ours, {}, plain, "", ""},
      {"holder_killed", programs, {}, plain, "", ""},
      {"holder_killed", rows, {}, "mysql", "sweep=3s", ""},
      {"holder_killed", rows, {}, "mysql", "sweep=off", ""},
      {"holder_killed", "postgres/unique_key", {}, "postgres", "sweep=3s", ""},
      {"holder_killed", "postgres/unique_key", {}, "postgres", "sweep=off", ""},
      {"killed_half_way", "redis/setnx_expire", {}, "redis", "", ""},
      {"holder_paused", ours, {}, plain, "", ""},
      {"work_outlives_lease", leasing, feature::lease, leasing_servers, "", ""},
      {"work_outlives_lease", programs, {}, plain, "", ""},
      {"work_outlives_lease_renewed", leasing, feature::lease | feature::renewable, leasing_servers,
       "", ""},
      {"work_outlives_lease_renewed", programs, {}, plain, "", ""},
      {"stale_release", "redis/set_nx_px", {}, "redis", "release=del", ""},
      {"stale_release", "redis/set_nx_px", {}, "redis", "release=compare_then_del", ""},
      {"stale_release", "redis/set_nx_px redis/lua redis/redisson", {}, "redis", "", ""},
      {"stale_release_between", "redis/set_nx_px", {}, "redis", "release=compare_then_del", ""},
      {"failover_replication_cut", replicated, {}, redis_failover, "", ""},
      {"failover_replication_cut", programs, {}, redis_failover, "", ""},
      {"failover_replication_cut", plain_strings, {}, redis_failover, "wait_replicas=1", ""},
      {"failover_replication_cut", "redis/redisson", {}, redis_failover, "wait=none", ""},
      {"master_killed", replicated, {}, redis_failover, "", ""},
      {"master_killed", programs, {}, redis_failover, "", ""},
      {"master_killed", plain_strings, {}, redis_failover, "wait_replicas=1", ""},
      {"failover_planned", replicated, {}, redis_failover, "", ""},
      {"failover_planned", programs, {}, redis_failover, "", ""},
      {"redlock_two_down", "redis/redlock redis/redisson_red", {}, "redis-independent", "", ""},
      {"redlock_three_down", "redis/redlock redis/redisson_red", {}, "redis-independent", "", ""},
      {"redlock_restart_empty", "redis/redlock", {}, "redis-independent", "", ""},
      {"redlock_clock_jump", "redis/redlock", {}, "redis-independent", "", ""},
      {"redlock_even", "redis/redlock", {}, "redis-independent", "", ""},
      {"leader_killed", zookeepers, {}, "zookeeper-3 zookeeper-5", "", ""},
      {"leader_killed", "etcd/*", {}, "etcd-3 etcd-5", "", ""},
      {"leader_killed", programs, {}, "zookeeper-3 zookeeper-5 etcd-3 etcd-5", "", ""},
      {"minority_partition", zookeepers, {}, "zookeeper-3 zookeeper-5", "", ""},
      {"leader_partitioned", zookeepers, {}, "zookeeper-3 zookeeper-5", "", ""},
      {"server_killed", ours, {}, plain, "", ""},
      {"server_killed", programs, {}, plain, "", ""},
      {"holder_cut_off", ours, {}, plain, "", ""},
      {"holder_cut_off", programs, {}, plain, "", ""},
      {"connection_cut", "mysql/*", {}, "mysql", "", ""},
      {"connection_cut", "postgres/*", {}, "postgres", "", ""},
      {"replica_promoted", "mysql/for_update mysql/unique_key", {}, "mysql-replicated", "", ""},
      {"replica_promoted", "mysql/unique_key", {}, "mysql-replicated", "sweep=3s", ""},
      {"replica_promoted_cut", "mysql/for_update", {}, "mysql-replicated", "", ""},
      {"replica_promoted_cut", "mysql/unique_key", {}, "mysql-replicated", "sweep=5s", ""},
      {"replica_promoted", of_each_kind, {}, "postgres-replicated", "", ""},
      {"replica_promoted_cut", of_each_kind, {}, "postgres-replicated", "", ""},
      {"replica_promoted_cut",
       "postgres/lease_row",
       {},
       "postgres-replicated",
       "synchronous_commit=local",
       ""},
      {"two_writers", "mysql/for_update mysql/unique_key", {}, "mysql-galera", "", "writers=all"},
      {"unindexed_for_update", "mysql/for_update", {}, "mysql", "indexed=false", ""},
      {"unindexed_for_update", "mysql/for_update", {}, "mysql", "indexed=true", ""},
      {"duplicate_insert_deadlock", "mysql/unique_key", {}, "mysql", "", ""},
  };
  return all;
}

bool concerns(const scenario& s, std::string_view lock, features has) {
  const bool is_exclusive = !has.has(feature::shared) && !has.has(feature::optimistic);
  return is_exclusive && s.with.without(has).empty() && matches_any(s.locks, lock);
}

}  // namespace lockmark::workloads
