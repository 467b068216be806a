// Redis Cluster: three masters that share the slots, and a replica of each.
#include <fmt/format.h>

#include "deploy/local/servers.hpp"

namespace lockmark::local {
namespace {

constexpr int nodes = 6;

verdict judge_cluster(std::string_view answer) {
  if (answer.starts_with("-")) return verdict::not_yet;
  if (answer.find("cluster_size:") == answer.npos) return verdict::more;
  const bool is_whole = answer.find("cluster_state:ok") != answer.npos &&
                        answer.find("cluster_known_nodes:6") != answer.npos &&
                        answer.find("cluster_size:3") != answer.npos;
  return is_whole ? verdict::ready : verdict::not_yet;
}

server_spec cluster_node(site& where, const std::string& name) {
  server_spec server = redis_server(where, name);
  server.argv.insert(server.argv.end(),
                     {
                         "--cluster-enabled",
                         "yes",
                         // The node's id, peers and slots: the only persistent file.
                         "--cluster-config-file",
                         (where.folder(name) / "nodes.conf").string(),
                         // As short as possible while a pause is still told from a death.
                         "--cluster-node-timeout",
                         "2000",
                         // Each master keeps its own replica, whatever happens to the others'.
                         "--cluster-allow-replica-migration",
                         "no",
                         "--repl-diskless-sync-delay",
                         "0",
                     });
  server.joined = {"CLUSTER INFO\r\n", judge_cluster};
  server.time_limit = std::chrono::seconds{20};
  return server;
}

}  // namespace

plan redis_cluster(site& where) {
  plan result;
  for (int i = 1; i <= nodes; ++i) {
    result.servers.push_back(cluster_node(where, fmt::format("redis-{}", i)));
  }
  std::vector<std::string> words{"--cluster", "create"};
  for (server_spec& server : result.servers) {
    // The port of the cluster bus. The default is the client port + 10000, which may be in use.
    const int bus = where.ports.take(fmt::format("{}'s cluster bus", server.name));
    server.argv.insert(server.argv.end(), {"--cluster-port", fmt::format("{}", bus)});
    server.peer_ports = {server.port, bus};
    const std::string address = fmt::format("127.0.0.1:{}", server.port);
    result.target += fmt::format("{}{}", result.target.empty() ? "redis+cluster://" : ",", address);
    words.push_back(address);
  }
  words.insert(words.end(), {"--cluster-replicas", "1", "--cluster-yes"});
  result.after_start.push_back(
      redis_command(where, "join the cluster", result.servers.front().port, words));
  return result;
}

}  // namespace lockmark::local
