#include "deploy/local/topology.hpp"

#include <fmt/format.h>

#include <random>

#include "deploy/local/error.hpp"
#include "deploy/local/servers.hpp"
#include "deploy/local/versions.hpp"
#include "harness/base/lists.hpp"

namespace lockmark::local {

std::vector<topology> topologies() {
  return {
      {"redis", "one Redis without persistence", single_redis},
      {"redis-sentinel", "a Redis master and two replicas under three sentinels", redis_sentinel},
      {"redis-cluster", "a Redis Cluster of three masters with a replica each", redis_cluster},
      {"redis-clusters", "two Redis Clusters of three masters each", redis_clusters},
      {"redis-independent", "five Redis masters that know nothing of each other",
       redis_independent},
      {"redis-tls", "one Redis behind TLS, with a user and a password", redis_tls},
      {"zookeeper", "one ZooKeeper that syncs its log", single_zookeeper},
      {"zookeeper-3", "an ensemble of three ZooKeepers",
       [](site& where) { return zookeeper_ensemble(where, 3); }},
      {"zookeeper-5", "an ensemble of five ZooKeepers",
       [](site& where) { return zookeeper_ensemble(where, 5); }},
      {"etcd", "one etcd", single_etcd},
      {"etcd-3", "a cluster of three etcds", [](site& where) { return etcd_cluster(where, 3); }},
      {"etcd-5", "a cluster of five etcds", [](site& where) { return etcd_cluster(where, 5); }},
      {"etcd-tls", "one etcd behind TLS, with a user and a password", etcd_tls},
      {"mysql", "one MariaDB with durable commits", single_mariadb},
      {"mysql-tls", "one MariaDB reached over TLS only", tls_mariadb},
      {"mysql-replicated", "a MariaDB master and two semi-synchronous replicas",
       replicated_mariadb},
      {"mysql-galera", "three MariaDB nodes as a Galera cluster", galera_mariadb},
      {"postgres", "one PostgreSQL with durable commits", single_postgres},
      {"postgres-tls", "one PostgreSQL reached over TLS only", tls_postgres},
      {"postgres-replicated", "a PostgreSQL primary and two synchronous standbys",
       replicated_postgres},
      {"postgres-pgbouncer", "one PostgreSQL behind a pgbouncer that pools transactions",
       pooled_postgres},
  };
}

topology find_topology(std::string_view name) {
  if (name.find('@') != name.npos) return topology_of_version(name, servers_folder());
  const std::vector<topology> all = topologies();
  const auto found = std::ranges::find(all, name, &topology::name);
  if (found != all.end()) return *found;
  throw start_error(
      fmt::format("there is no local topology '{}'; known are {}; of other versions {}", name,
                  joined(all, &topology::name), joined(known_versions(), &server_version::name)));
}

std::vector<peer_way> peer_ways(const std::vector<server_spec>& servers) {
  std::vector<peer_way> all;
  for (const server_spec& from : servers) {
    for (const server_spec& to : servers) {
      if (from.name == to.name) continue;
      for (const int port : to.peer_ports) all.push_back({from.name, to.name, port});
    }
  }
  return all;
}

std::string addresses_of(std::span<const server_spec> servers) {
  return joined(
      servers, [](const auto& s) { return fmt::format("127.0.0.1:{}", s.port); }, ",");
}

// 24 of 62 characters: 142 bits.
std::string random_password() {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::uniform_int_distribution<std::size_t> any(0, letters.size() - 1);
  std::string password;
  while (password.size() < 24) password += letters[any(random)];
  return password;
}

command sync_data_directory(const site& where, const std::string& server) {
  const std::string data = (where.folder(server) / "data").string();
  return {fmt::format("sync the data directory of {}", server),
          {where.program("sync", "coreutils"), "--file-system", data}};
}

std::filesystem::path site::log(std::string_view server) const {
  return directory / fmt::format("{}.log", server);
}

}  // namespace lockmark::local
