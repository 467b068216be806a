// Redis Cluster: three masters that share the slots, and a replica of each.
#include <fmt/format.h>

#include "deploy/local/ask.hpp"
#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"

namespace lockmark::local {
namespace {

// A replica that has not copied its master's data yet is never promoted.
verdict judge_cluster(std::string_view answer) {
  if (answer.starts_with("-")) return verdict::not_yet;
  if (answer.find("cluster_size:") == answer.npos) return verdict::more;
  const verdict copies = judge_replication(answer);
  if (copies != verdict::ready) return copies;
  const bool is_whole = answer.find("cluster_state:ok") != answer.npos &&
                        answer.find("cluster_known_nodes:6") != answer.npos &&
                        answer.find("cluster_size:3") != answer.npos;
  return is_whole ? verdict::ready : verdict::not_yet;
}

}  // namespace

plan redis_cluster(site& where) {
  plan result;
  auto& nodes = result.servers;
  for (int i = 1; i <= 6; ++i) nodes.push_back(redis_server(where, fmt::format("redis-{}", i)));
  std::vector<std::string> words{"--cluster", "create"};
  for (server_spec& node : nodes) {
    // The port of the cluster bus. The default is the client port + 10000, which may be in use.
    const int bus = where.ports.take(fmt::format("{}'s cluster bus", node.name));
    add_words(node.argv, "redis_cluster",
              {{"folder", where.folder(node.name).string()}, {"bus", bus}});
    node.joined = {"CLUSTER INFO\r\nINFO replication\r\n", judge_cluster};
    node.time_limit = std::chrono::seconds{20};
    node.peer_ports = {node.port, bus};
    words.push_back(addresses_of({&node, 1}));
  }
  words.insert(words.end(), {"--cluster-replicas", "1", "--cluster-yes"});
  result.after_start.push_back(redis_command(where, "join the cluster", nodes[0].port, words));
  result.target = fmt::format("redis+cluster://{}", addresses_of(nodes));
  return result;
}

}  // namespace lockmark::local
