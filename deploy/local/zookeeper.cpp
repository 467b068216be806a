// ZooKeeper as a local server: Debian's jars, its own configuration, nothing from /etc.
#include <fmt/format.h>

#include "deploy/local/servers.hpp"

namespace lockmark::local {
namespace {

// One server of a topology: the settings that differ between servers.
struct member {
  std::string name;
  std::filesystem::path data;
  int client_port = 0;
  std::vector<std::string> heap;  // options of the JVM
  std::string ensemble;           // the list of all members; empty: a single server
  std::vector<int> peer_ports{};  // to follow a leader, and to elect one
};

std::string configuration(const member& server) {
  return fmt::format(R"(dataDir={}
clientPort={}
clientPortAddress=127.0.0.1
# A quarter of the default: session timeouts are granted from 2 ticks, and sessions expire in steps
# of one. The longest one is what it would be with the default.
tickTime=500
maxSessionTimeout=40000
# No limit: every simulated instance has a session of its own, all from one address.
maxClientCnxns=0
# srvr tells when it serves, mntr counts what a run costs the server.
4lw.commands.whitelist=*
# The default, written down because it is what a ZooKeeper lock costs: a transaction is synced to
# the disk before it is acknowledged.
forceSync=yes
# No snapshot in the middle of a run: the default comes every 50,000 to 100,000 transactions.
snapCount=100000000
# A second port, Jetty and its threads that nobody asks.
admin.enableServer=false
{})",
                     server.data.string(), server.client_port, server.ensemble);
}

std::vector<std::string> command_line(const site& where, const std::filesystem::path& folder,
                                      const std::vector<std::string>& heap) {
  // The jar's manifest names the rest of Debian's class path; slf4j-simple sends the server's log
  // to standard error, without a configuration file.
  const std::string jars =
      fmt::format("{}:{}", where.needed_file("/usr/share/java/zookeeper.jar", "libzookeeper-java"),
                  where.needed_file("/usr/share/java/slf4j-simple.jar", "libslf4j-java"));
  std::vector<std::string> words{where.program("java", "default-jre-headless")};
  words.insert(words.end(), heap.begin(), heap.end());
  const std::vector<std::string> rest{
      // Otherwise the JVM leaves a file in /tmp when it is killed.
      "-XX:-UsePerfData",
      fmt::format("-Djava.io.tmpdir={}", folder.string()),
      "-Djava.net.preferIPv4Stack=true",
      "-Dorg.slf4j.simpleLogger.showDateTime=true",
      "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS",
      // The interval, in ms, at which an election repeats its question to members that were down;
      // the default grows to a minute.
      "-Dzookeeper.fastleader.maxNotificationInterval=400",
      "-cp",
      jars,
      "org.apache.zookeeper.server.quorum.QuorumPeerMain",
      (folder / "zoo.cfg").string(),
  };
  words.insert(words.end(), rest.begin(), rest.end());
  return words;
}

server_spec server_for(const site& where, const member& one) {
  const std::filesystem::path folder = where.folder(one.name);
  server_spec server;
  server.name = one.name;
  server.port = one.client_port;
  server.ready = zookeeper_probe();
  server.time_limit = std::chrono::seconds{30};
  server.data = {(one.data / "version-2").lexically_relative(folder).string()};
  server.files.push_back({folder / "zoo.cfg", configuration(one)});
  server.argv = command_line(where, folder, one.heap);
  server.peer_ports = one.peer_ports;
  return server;
}

// The common part of all members' configuration. Takes the ports between the members.
std::string ensemble_lines(site& where, std::vector<member>& members) {
  std::string lines =
      R"(# In ticks: 10 s to join a leader, and 5 s without a word from it to leave it.
initLimit=20
syncLimit=10
)";
  for (std::size_t i = 0; i < members.size(); ++i) {
    const int following = where.ports.take(members[i].name);
    const int election = where.ports.take(members[i].name);
    members[i].peer_ports = {following, election};
    lines += fmt::format("server.{}=127.0.0.1:{}:{}\n", i + 1, following, election);
  }
  return lines;
}

}  // namespace

plan single_zookeeper(site& where) {
  const std::string name = "zookeeper";
  const member alone{.name = name,
                     .data = where.folder(name) / "data",
                     .client_port = where.ports.take(name),
                     // Ample for the small trees of locks; a fixed size does not grow during a run.
                     .heap = {"-Xms512m", "-Xmx512m"},
                     .ensemble = ""};
  plan result;
  result.servers.push_back(server_for(where, alone));
  result.target = fmt::format("zookeeper://127.0.0.1:{}", alone.client_port);
  return result;
}

// A member is ready, by its probe, once it leads with a quorum or follows: when all answer, one
// leads and all others follow.
plan zookeeper_ensemble(site& where, int size) {
  std::vector<member> members;
  for (int number = 1; number <= size; ++number) {
    const std::string name = fmt::format("zookeeper-{}", number);
    members.push_back({.name = name,
                       .data = where.folder(name),
                       .client_port = where.ports.take(name),
                       // Five of them fit on a small machine; so small a heap gains nothing from
                       // parallel collection.
                       .heap = {"-Xms128m", "-Xmx128m", "-XX:+UseSerialGC"},
                       .ensemble = ""});
  }
  const std::string lines = ensemble_lines(where, members);
  plan result;
  for (std::size_t i = 0; i < members.size(); ++i) {
    members[i].ensemble = lines;
    result.servers.push_back(server_for(where, members[i]));
    // The member's number.
    result.servers.back().files.push_back({members[i].data / "myid", fmt::format("{}\n", i + 1)});
    result.target +=
        fmt::format("{}127.0.0.1:{}", i == 0 ? "zookeeper://" : ",", members[i].client_port);
  }
  return result;
}

}  // namespace lockmark::local
