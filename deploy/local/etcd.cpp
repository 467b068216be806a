// etcd as a local server, alone or as a cluster.
//
// No proxy can stand between the members: a program in Go makes its system calls itself, where the
// preload shims are not asked, and all members have to know one address of each.
#include <fmt/format.h>

#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"
#include "harness/base/lists.hpp"

namespace lockmark::local {

server_spec etcd_server(site& where, std::string name) {
  server_spec server;
  server.name = std::move(name);
  server.port = where.ports.take(server.name);
  server.ready = etcd_probe();
  server.argv = {where.program("etcd", "etcd-server")};
  return server;
}

namespace {

// The settings of all members, which know each other by them from the start.
void configure(std::vector<server_spec>& servers, site& where) {
  std::vector<int> peer_ports;
  std::vector<std::string> members;
  for (const server_spec& server : servers) {
    peer_ports.push_back(where.ports.take(server.name));
    members.push_back(fmt::format("{}=http://127.0.0.1:{}", server.name, peer_ports.back()));
  }
  for (std::size_t i = 0; i < servers.size(); ++i) {
    add_words(servers[i].argv, "etcd",
              {{"name", servers[i].name},
               {"folder", where.folder(servers[i].name).string()},
               {"scheme", "http"},
               {"port", servers[i].port},
               {"peer_port", peer_ports[i]},
               {"members", joined(members, std::identity{}, ",")},
               {"token", peer_ports[0]}});
  }
}

}  // namespace

plan single_etcd(site& where) {
  plan result;
  result.servers.push_back(etcd_server(where, "etcd"));
  configure(result.servers, where);
  result.target = fmt::format("etcd://{}", addresses_of(result.servers));
  return result;
}

plan etcd_cluster(site& where, int size) {
  plan result;
  for (int number = 1; number <= size; ++number) {
    result.servers.push_back(etcd_server(where, fmt::format("etcd-{}", number)));
  }
  configure(result.servers, where);
  result.target = fmt::format("etcd://{}", addresses_of(result.servers));
  return result;
}

}  // namespace lockmark::local
