// The kinds of server that lockmark can start, one file each, and the topologies made of them.
#pragma once

#include <span>

#include "deploy/local/topology.hpp"

namespace lockmark::local {

plan single_redis(site& where);                  // redis.cpp
plan redis_sentinel(site& where);                // redis_sentinel.cpp
plan redis_cluster(site& where);                 // redis_cluster.cpp
plan redis_clusters(site& where);                // the same
plan redis_independent(site& where);             // redis.cpp
plan redis_tls(site& where);                     // redis_tls.cpp
plan single_zookeeper(site& where);              // zookeeper.cpp
plan zookeeper_ensemble(site& where, int size);  // zookeeper.cpp
plan single_etcd(site& where);                   // etcd.cpp
plan etcd_cluster(site& where, int size);        // etcd.cpp
plan etcd_tls(site& where);                      // etcd_tls.cpp
plan single_mariadb(site& where);                // mariadb.cpp
plan replicated_mariadb(site& where);            // mariadb_replicated.cpp
plan galera_mariadb(site& where);                // mariadb_galera.cpp
plan tls_mariadb(site& where);                   // mariadb_tls.cpp
plan single_mysql(site& where);                  // mysql.cpp
plan single_postgres(site& where);               // postgres.cpp
plan replicated_postgres(site& where);           // postgres_replicated.cpp
plan pooled_postgres(site& where);               // postgres_pgbouncer.cpp
plan tls_postgres(site& where);                  // postgres_tls.cpp

// "127.0.0.1:6379,127.0.0.1:6380": where clients find them.
std::string addresses_of(std::span<const server_spec> servers);

// Letters and digits only, so that it needs no escaping in SQL or in a URL.
std::string random_password();

// A Redis that listens on loopback and persists nothing; ready at PONG. The topology appends its
// own settings to `argv`.
server_spec redis_server(site& where, const std::string& name);

// A configuration file, which precedes the settings in `argv`.
void give_configuration(server_spec& server, const site& where, const std::string& text);

// An etcd without its settings.
server_spec etcd_server(site& where, std::string name);

// Dirty pages left from creating a server's data directory must not be written back during a run.
command sync_data_directory(const site& where, const std::string& server);

// redis-cli, as a step of a plan.
command redis_command(site& where, std::string purpose, int port, std::vector<std::string> words);

}  // namespace lockmark::local
