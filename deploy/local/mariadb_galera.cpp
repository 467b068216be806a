// MariaDB three times as a Galera cluster: every node takes writes, a commit is certified by all.
//
// A node that joins, or comes back after a crash, gets the state from another one. The usual script
// for that (wsrep_sst_rsync) is in a Debian package that also installs a system service; here all
// nodes are on one disk, and copying the files of a node whose tables are locked is enough.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "deploy/local/mariadb.hpp"
#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"

namespace lockmark::local {
namespace {

struct node_ports {
  int group = 0;     // gcomm
  int transfer = 0;  // of the changes that a node has missed
};

void add_galera_words(server_spec& node, const site& where, int number,
                      const std::vector<node_ports>& all) {
  const node_ports own = all[static_cast<std::size_t>(number - 1)];
  std::vector<std::string> members;
  for (const node_ports& each : all) members.push_back(fmt::format("127.0.0.1:{}", each.group));
  const std::filesystem::path folder = where.folder(node.name);
  node.argv = {where.program("sh", "dash"), (folder / "start.sh").string()};
  add_mariadb_words(node, where, number);
  add_words(node.argv, "galera",
            {{"provider", where.needed_file("/usr/lib/galera/libgalera_smm.so", "galera-4")},
             {"name", node.name},
             {"folder", folder.string()},
             {"members", fmt::format("{}", fmt::join(members, ","))},
             {"group", own.group},
             {"transfer", own.transfer}});
}

void add_scripts(const site& where, server_spec& node, int number) {
  const std::filesystem::path folder = where.folder(node.name);
  const std::filesystem::path transfer = folder / "wsrep_sst_lockmark";
  const std::filesystem::path notify = folder / "notify.sh";
  json before = json::array();
  for (int other = number - 1; other > 0; --other) before.push_back(other);
  node.files.push_back({transfer, filled("galera_transfer", {})});
  node.files.push_back({notify, filled("galera_notify", {})});
  node.files.push_back({folder / "start.sh", filled("galera_start", {{"before", before}})});
  node.prepare.push_back(
      {"make scripts executable",
       {where.program("chmod", "coreutils"), "700", transfer.string(), notify.string()}});
}

}  // namespace

// Only the first node founds a cluster, so three ready nodes form one cluster.
plan galera_mariadb(site& where) {
  const mariadb_account account;
  plan result;
  auto& nodes = result.servers;
  nodes.push_back(mariadb_server(where, "mariadb-1", account.sql({}, true)));
  nodes[0].ready = galera_probe();
  for (const int number : {2, 3}) {
    nodes.push_back(mariadb_copy(where, fmt::format("mariadb-{}", number), nodes[0]));
  }
  std::vector<node_ports> ports;
  for (const server_spec& node : nodes) {
    ports.push_back({where.ports.take(node.name), where.ports.take(node.name)});
  }
  int number = 0;
  for (server_spec& node : nodes) {
    add_scripts(where, node, ++number);
    add_galera_words(node, where, number, ports);
  }
  result.target = account.target("mysql+galera", nodes);
  return result;
}

}  // namespace lockmark::local
