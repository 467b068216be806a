#include "deploy/local/topology.hpp"

#include <fmt/format.h>

#include <random>

#include "deploy/local/error.hpp"
#include "deploy/local/servers.hpp"

namespace lockmark::local {

std::vector<topology> topologies() {
  return {
      {"redis", "one Redis without persistence", single_redis},
      {"redis-sentinel", "a Redis master and two replicas under three sentinels", redis_sentinel},
      {"redis-cluster", "a Redis Cluster of three masters with a replica each", redis_cluster},
      {"redis-independent", "five Redis masters that know nothing of each other",
       redis_independent},
      {"redis-tls", "one Redis behind TLS, with a user and a password", redis_tls},
      {"zookeeper", "one ZooKeeper that syncs its log", single_zookeeper},
      {"zookeeper-3", "an ensemble of three ZooKeepers",
       [](site& where) { return zookeeper_ensemble(where, 3); }},
      {"zookeeper-5", "an ensemble of five ZooKeepers",
       [](site& where) { return zookeeper_ensemble(where, 5); }},
      {"mysql", "one MariaDB with durable commits", single_mariadb},
      {"mysql-tls", "one MariaDB reached over TLS only", tls_mariadb},
      {"mysql-replicated", "a MariaDB master and two semi-synchronous replicas",
       replicated_mariadb},
      {"mysql-galera", "three MariaDB nodes as a Galera cluster", galera_mariadb},
  };
}

topology find_topology(std::string_view name) {
  std::string known;
  for (topology& row : topologies()) {
    if (row.name == name) return row;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
  }
  throw start_error(fmt::format("there is no local topology '{}'; known are {}", name, known));
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
  std::string all;
  for (const server_spec& server : servers) {
    all += fmt::format("{}127.0.0.1:{}", all.empty() ? "" : ",", server.port);
  }
  return all;
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

std::filesystem::path site::log(std::string_view server) const {
  return directory / fmt::format("{}.log", server);
}

}  // namespace lockmark::local
