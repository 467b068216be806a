// Redis Cluster: one with replicas, or two without, which know nothing of each other.
#include <fmt/format.h>

#include "deploy/local/ask.hpp"
#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"

namespace lockmark::local {
namespace {

// A replica that has not copied its master's data yet is never promoted.
template <int nodes>
verdict judge_cluster(std::string_view answer) {
  if (answer.starts_with("-")) return verdict::not_yet;
  if (answer.find("cluster_size:") == answer.npos) return verdict::more;
  const verdict copies = judge_replication(answer);
  if (copies != verdict::ready) return copies;
  const bool is_whole =
      answer.find("cluster_state:ok") != answer.npos &&
      answer.find(fmt::format("cluster_known_nodes:{}\r", nodes)) != answer.npos &&
      answer.find("cluster_size:3\r") != answer.npos;
  return is_whole ? verdict::ready : verdict::not_yet;
}

// Three masters that share the slots, and `replicas` of each.
template <int replicas>
void add_cluster(plan& all, site& where, std::string_view prefix) {
  constexpr int nodes = 3 * (1 + replicas);
  std::vector<std::string> words{"--cluster", "create"};
  for (int i = 1; i <= nodes; ++i) {
    server_spec node = redis_server(where, fmt::format("{}-{}", prefix, i));
    // The port of the cluster bus. The default is the client port + 10000, which may be in use.
    const int bus = where.ports.take(fmt::format("{}'s cluster bus", node.name));
    add_words(node.argv, "redis_cluster",
              {{"folder", where.folder(node.name).string()}, {"bus", bus}});
    node.joined = {"CLUSTER INFO\r\nINFO replication\r\n", judge_cluster<nodes>};
    node.time_limit = std::chrono::seconds{20};
    node.peer_ports = {node.port, bus};
    words.push_back(addresses_of({&node, 1}));
    all.servers.push_back(std::move(node));
  }
  const int first = all.servers[all.servers.size() - nodes].port;
  words.insert(words.end(), {"--cluster-replicas", fmt::format("{}", replicas), "--cluster-yes"});
  all.after_start.push_back(redis_command(where, "join the cluster", first, words));
}

}  // namespace

plan redis_cluster(site& where) {
  plan result;
  add_cluster<1>(result, where, "redis");
  result.target = fmt::format("redis+cluster://{}", addresses_of(result.servers));
  return result;
}

// Each is found from one of its nodes.
plan redis_clusters(site& where) {
  plan result;
  std::string hosts;
  for (const char* prefix : {"redis-a", "redis-b"}) {
    const std::size_t first = result.servers.size();
    add_cluster<0>(result, where, prefix);
    hosts += (hosts.empty() ? "" : ",") + addresses_of({&result.servers[first], 1});
  }
  result.target = fmt::format("redis+clusters://{}", hosts);
  return result;
}

}  // namespace lockmark::local
