// MariaDB three times as a Galera cluster: every node takes writes, a commit is certified by all.
//
// A node that joins, or comes back after a crash, gets the state from another one. The usual script
// for that (wsrep_sst_rsync) is in a Debian package that also installs a system service; here all
// nodes are on one disk, and copying the files of a node whose tables are locked is enough.
#include <fmt/format.h>

#include "deploy/local/mariadb.hpp"
#include "deploy/local/servers.hpp"

namespace lockmark::local {
namespace {

// mariadbd's side of the protocol is in its wsrep_sst.cc. The joiner prints its address, here the
// path of its data directory, and, once it has the state, that state's id. The donor asks for the
// tables to be locked, copies, and releases them.
constexpr std::string_view transfer_script = R"sh(#!/bin/sh
set -eu
role= data= address= state= bypass=no
while [ $# -gt 0 ]; do
  case $1 in
    --role) role=$2; shift ;;
    --datadir) data=${2%/}; shift ;;
    --address) address=$2; shift ;;
    --gtid) state=$2; shift ;;
    --bypass) bypass=yes ;;
    --mysqld-args) break ;;
  esac
  shift
done
wait_for() {
  turns=0
  until grep -q : "$1" 2>/dev/null; do
    turns=$((turns + 1))
    [ $turns -lt 1500 ] || exit 110
    sleep 0.02
  done
}
if [ "$role" = joiner ]; then
  rm -f "$data/transferred"
  echo "ready 127.0.0.1:1$data"
  wait_for "$data/transferred"
  cat "$data/transferred"
  exit
fi
to=/${address#*/}
if [ $bypass = no ]; then
  echo 'flush tables'
  wait_for "$data/tables_flushed"
  state=$(cat "$data/tables_flushed")
  rm "$data/tables_flushed"
  rm -rf "$to"/ib* "$to"/undo* "$to"/aria* "$to"/*/
  cd "$data"
  cp -r ib* aria* */ "$to/"
  echo continue
fi
echo "$state" > "$to/transferred.part"
mv "$to/transferred.part" "$to/transferred"
echo "done $state"
)sh";

// Called by a node at each change of its status; leaves the status, such as "donor", in a file.
constexpr std::string_view notify_name = "notify.sh";
constexpr std::string_view notify_script = R"sh(#!/bin/sh
cd "$(dirname "$0")"
while [ $# -gt 0 ]; do
  case $1 in
    --status) echo "$2" > status.part; mv status.part status; shift ;;
  esac
  shift
done
)sh";

// A cluster is only founded at the very first start; a node that comes back looks for the others.
// {}: the first start's extra step.
constexpr std::string_view start_script = R"sh(#!/bin/sh
cd "$(dirname "$0")"
PATH=$PWD:$PATH
synced() {{
  until grep -qi synced "../$1/status" 2>/dev/null; do sleep 0.05; done
}}
if mkdir started_before 2>/dev/null; then
  {}
fi
exec "$@"
)sh";

// A node joins once all nodes before it are synced. Nodes that meet before they have found the
// cluster need seconds to agree that neither is it. And a group that changes while a donor finishes
// can report its end twice: a donor already at its next transfer takes the second report for the
// end of that one, stays paused, and never commits again (Galera 26.4.23).
std::string first_start(int number) {
  if (number == 1) return R"sh(set -- "$@" --wsrep-new-cluster)sh";
  std::string steps;
  for (int before = number - 1; before > 0; --before) {
    steps += fmt::format("synced mariadb-{}; ", before);
  }
  return steps;
}

struct node_ports {
  int group = 0;     // gcomm
  int transfer = 0;  // of the changes that a node has missed
};

std::vector<std::string> command_line(const site& where, const server_spec& node, int number,
                                      const std::vector<node_ports>& all) {
  const node_ports own = all[static_cast<std::size_t>(number - 1)];
  std::vector<std::string> argv = {where.program("sh", "dash"),
                                   (where.folder(node.name) / "start.sh").string()};
  for (std::string& word : small_mariadb_command_line(where, node, number)) argv.push_back(word);
  std::string members;
  for (const node_ports& each : all) {
    members += fmt::format("{}127.0.0.1:{}", members.empty() ? "" : ",", each.group);
  }
  for (std::string word :
       {std::string{"--binlog-format=ROW"}, std::string{"--innodb-autoinc-lock-mode=2"},
        std::string{"--wsrep-on=ON"}, std::string{"--wsrep-cluster-name=lockmark"},
        std::string{"--wsrep-node-address=127.0.0.1"}, std::string{"--wsrep-sst-method=lockmark"},
        fmt::format("--wsrep-provider={}",
                    where.needed_file("/usr/lib/galera/libgalera_smm.so", "galera-4")),
        fmt::format("--wsrep-node-name={}", node.name),
        fmt::format("--wsrep-notify-cmd={}", (where.folder(node.name) / notify_name).string()),
        fmt::format("--wsrep-cluster-address=gcomm://{}", members),
        // The timeouts for joining are shorter than the defaults, those for failures are not.
        fmt::format("--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{0};"
                    "base_host=127.0.0.1;base_port={0};ist.recv_addr=127.0.0.1:{1};"
                    "gcache.size=16M;evs.join_retrans_period=PT0.1S;"
                    "evs.inactive_check_period=PT0.1S;gmcast.time_wait=PT0.2S;"
                    "pc.announce_timeout=PT0.5S",
                    own.group, own.transfer)}) {
    argv.push_back(std::move(word));
  }
  return argv;
}

void add_scripts(const site& where, server_spec& node, int number) {
  const std::filesystem::path folder = where.folder(node.name);
  const std::filesystem::path transfer = folder / "wsrep_sst_lockmark";
  const std::filesystem::path notify = folder / notify_name;
  node.files.push_back({transfer, std::string{transfer_script}});
  node.files.push_back({notify, std::string{notify_script}});
  node.files.push_back({folder / "start.sh", fmt::format(start_script, first_start(number))});
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
  nodes.push_back(mariadb_server(
      where, "mariadb-1", fmt::format("{}CREATE USER 'probe'@'127.0.0.1';\n", account.sql())));
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
    node.argv = command_line(where, node, number, ports);
  }
  result.target = account.target("mysql+galera", nodes);
  return result;
}

}  // namespace lockmark::local
