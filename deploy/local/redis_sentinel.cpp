// Redis under Sentinel: a master, two replicas, and three sentinels that promote one of them when
// the master is gone for two seconds.
#include <fmt/format.h>

#include "deploy/local/ask.hpp"
#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"

namespace lockmark::local {
namespace {

server_spec replica_set_member(site& where, const std::string& name, int master) {
  server_spec server = redis_server(where, name);
  const bool is_replica = master != 0;
  // Every failover changes the replication roles. Redis and its sentinels write them into this
  // file, so that a restarted server has the role it had when it died, or the one it has got since.
  give_configuration(server, where,
                     is_replica ? fmt::format("replicaof 127.0.0.1 {}\n", master) : "");
  // A replica that comes back must copy at once; by default the master waits for more of them.
  server.argv.insert(server.argv.end(), {"--repl-diskless-sync-delay", "0"});
  server.joined = {"INFO replication\r\n", judge_replication};
  server.peer_ports = {server.port};
  return server;
}

// SENTINEL MASTER is a flat list of names and values: "$10\r\nnum-slaves\r\n$1\r\n2\r\n".
verdict judge_sentinel(std::string_view answer) {
  if (answer.starts_with("-")) return verdict::not_yet;
  if (answer.find("parallel-syncs") == answer.npos) return verdict::more;
  const auto says = [answer](std::string_view name, std::string_view value) {
    return answer.find(fmt::format("{}\r\n${}\r\n{}\r\n", name, value.size(), value)) !=
           answer.npos;
  };
  const bool knows_all =
      says("flags", "master") && says("num-slaves", "2") && says("num-other-sentinels", "2");
  return knows_all ? verdict::ready : verdict::not_yet;
}

server_spec sentinel(site& where, const std::string& name, int master) {
  server_spec server;
  server.name = name;
  server.port = where.ports.take(name);
  server.argv = {where.program("redis-server", "redis-server"), "--sentinel"};
  give_configuration(
      server, where,
      filled("redis_sentinel",
             {{"port", server.port}, {"folder", where.folder(name).string()}, {"master", master}}));
  server.ready = redis_probe();
  server.peer_ports = {server.port};
  server.joined = {"SENTINEL MASTER lockmark\r\n", judge_sentinel};
  server.time_limit = std::chrono::seconds{20};
  return server;
}

}  // namespace

plan redis_sentinel(site& where) {
  plan result;
  result.servers.push_back(replica_set_member(where, "redis-1", 0));
  const int master = result.servers.front().port;
  result.servers.push_back(replica_set_member(where, "redis-2", master));
  result.servers.push_back(replica_set_member(where, "redis-3", master));
  for (int i = 1; i <= 3; ++i) {
    const server_spec made = sentinel(where, fmt::format("sentinel-{}", i), master);
    // By default a sentinel looks for replicas every 10 s and for other sentinels every 2 s. And it
    // promotes nobody for 30 s (TILT) once it has stood still for 2 s, as it does while its file
    // reaches the disk, which all servers share here.
    result.after_start.push_back(redis_command(where, fmt::format("set {}", made.name), made.port,
                                               {"SENTINEL", "DEBUG", "info-period", "1000",
                                                "publish-period", "500", "tilt-trigger", "10000"}));
    result.servers.push_back(made);
  }
  const auto sentinels = std::span{result.servers}.subspan(3);
  result.target = fmt::format("redis+sentinel://{}/lockmark", addresses_of(sentinels));
  return result;
}

}  // namespace lockmark::local
