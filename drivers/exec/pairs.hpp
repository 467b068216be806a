// The pairs of a real client and a lock of ours that interop_test.cpp lets compete, and where.
#pragma once

#include <string_view>

#include "drivers/exec/duel.hpp"

namespace lockmark::exec {

// "kind=fair table=x" as options.
struct player {
  std::string_view lock;
  std::string_view options = "";
};

struct pair {
  std::string_view topology;
  player real;
  player ours;
  relation are = relation::exclusive;
};

// On a busy machine a node may take longer than redlock's preset time-out.
//
// clang-format off
inline constexpr pair pairs[] = {
    {"redis", {"exec/redisson"}, {"redis/redisson"}},
    {"redis", {"exec/redisson", "kind=fair"}, {"redis/redisson_fair"}},
    {"redis", {"exec/redisson", "kind=spin"}, {"redis/redisson_spin"}},
    {"redis", {"exec/redisson", "kind=fenced"}, {"redis/redisson_fenced"}},
    {"redis", {"exec/redisson", "kind=multi"}, {"redis/redisson_multi"}},
    {"redis", {"exec/redisson", "kind=write"}, {"redis/redisson_write"}},
    {"redis", {"exec/redisson", "kind=write"}, {"redis/redisson_read"}},
    {"redis", {"exec/redisson", "kind=read"}, {"redis/redisson_write"}},
    {"redis", {"exec/redisson", "kind=read"}, {"redis/redisson_read"}, relation::shared},
    {"redis-sentinel", {"exec/redisson"}, {"redis/redisson"}},
    {"redis-cluster", {"exec/redisson"}, {"redis/redisson"}},
    {"redis", {"exec/redisson_3.52"}, {"redis/redisson"}},
    {"redis", {"exec/redisson_3.52", "kind=fair"}, {"redis/redisson_fair"}},
    {"redis", {"exec/redisson_3.52", "kind=spin"}, {"redis/redisson_spin"}},
    {"redis", {"exec/redisson_3.52", "kind=fenced"}, {"redis/redisson_fenced"}},
    {"redis", {"exec/redisson_3.52", "kind=multi"}, {"redis/redisson_multi"}},
    {"redis", {"exec/redisson_3.52", "kind=write"}, {"redis/redisson_write"}},
    {"redis", {"exec/redisson_3.52", "kind=write"}, {"redis/redisson_read"}},
    {"redis", {"exec/redisson_3.52", "kind=read"}, {"redis/redisson_write"}},
    {"redis", {"exec/redisson_3.52", "kind=read"}, {"redis/redisson_read"}, relation::shared},
    {"redis-independent", {"exec/node_redlock"}, {"redis/redlock", "node_timeout=2000ms"}},
    {"redis-independent", {"exec/redsync"}, {"redis/redlock", "node_timeout=2000ms"}},
    {"etcd", {"exec/etcd"}, {"etcd/mutex"}},
    {"etcd", {"exec/etcd"}, {"etcd/mutex", "watch_from=next"}},
    {"etcd", {"exec/etcd"}, {"etcd/lock_service"}},
    {"etcd", {"exec/etcd", "kind=write"}, {"etcd/rw"}},
    {"etcd", {"exec/etcd", "kind=write"}, {"etcd/rw_read"}},
    {"etcd", {"exec/etcd", "kind=read"}, {"etcd/rw"}},
    {"etcd", {"exec/etcd", "kind=read"}, {"etcd/rw_read"}, relation::shared},
    {"mysql", {"exec/shedlock"}, {"mysql/shedlock"}},
    {"postgres", {"exec/shedlock"}, {"postgres/lease_row"}},
    {"postgres", {"exec/go_pglock"}, {"postgres/advisory"}},
    {"zookeeper", {"exec/curator"}, {"zookeeper/sequential"}},
    {"zookeeper", {"exec/curator", "kind=semaphore_mutex"}, {"zookeeper/semaphore_mutex"}},
    {"zookeeper", {"exec/curator", "kind=write"}, {"zookeeper/write"}},
    {"zookeeper", {"exec/curator", "kind=write"}, {"zookeeper/read"}},
    {"zookeeper", {"exec/curator", "kind=read"}, {"zookeeper/write"}},
    {"zookeeper", {"exec/curator", "kind=read"}, {"zookeeper/read"}, relation::shared},
    {"zookeeper", {"exec/curator", "kind=downgraded"}, {"zookeeper/write", "hold=downgraded"}},
    {"zookeeper", {"exec/curator", "kind=downgraded"}, {"zookeeper/write"}},
    {"zookeeper", {"exec/curator", "kind=write"}, {"zookeeper/write", "hold=downgraded"}},
    {"zookeeper", {"exec/curator", "kind=downgraded"}, {"zookeeper/read"}, relation::ours_join},
    {"zookeeper", {"exec/curator", "kind=read"}, {"zookeeper/write", "hold=downgraded"},
                  relation::real_join},
    {"zookeeper", {"exec/curator", "kind=semaphore permits=1"},
                  {"zookeeper/semaphore", "leases=1"}},
    {"zookeeper", {"exec/curator", "kind=semaphore permits=2"},
                  {"zookeeper/semaphore", "leases=2"}, relation::shared},
    {"zookeeper", {"exec/curator_5.4"}, {"zookeeper/sequential"}},
    {"zookeeper", {"exec/curator_5.4", "kind=semaphore_mutex"}, {"zookeeper/semaphore_mutex"}},
    {"zookeeper", {"exec/curator_5.4", "kind=write"}, {"zookeeper/write"}},
    {"zookeeper", {"exec/curator_5.4", "kind=write"}, {"zookeeper/read"}},
    {"zookeeper", {"exec/curator_5.4", "kind=read"}, {"zookeeper/write"}},
    {"zookeeper", {"exec/curator_5.4", "kind=read"}, {"zookeeper/read"}, relation::shared},
    {"zookeeper", {"exec/curator_5.4", "kind=semaphore permits=1"},
                  {"zookeeper/semaphore", "leases=1"}},
    {"zookeeper", {"exec/kazoo"}, {"zookeeper/sequential"}},
};

inline constexpr pair mixed_pairs[] = {
    {"redis", {"exec/redisson"}, {"redis/redisson"}},
    {"zookeeper", {"exec/curator"}, {"zookeeper/sequential"}},
    {"zookeeper", {"exec/curator", "kind=downgraded"}, {"zookeeper/write", "hold=downgraded"}},
    {"redis-independent", {"exec/redsync"}, {"redis/redlock", "node_timeout=2000ms"}},
    {"etcd", {"exec/etcd"}, {"etcd/mutex"}},
    {"postgres", {"exec/go_pglock"}, {"postgres/advisory"}},
};
// clang-format on

// All topologies that the pairs need.
inline constexpr const char* topologies[] = {
    "redis",     "redis-sentinel", "redis-cluster", "redis-independent",
    "zookeeper", "etcd",           "mysql",         "postgres"};

}  // namespace lockmark::exec
