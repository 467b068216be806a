// ZooKeeper as a local server: Debian's jars, a configuration of its own, nothing of /etc.
#include <fmt/format.h>

#include "deploy/local/servers.hpp"

namespace lockmark::local {
namespace {

// dataDir and the client port are the server's own; the rest holds for every ZooKeeper here.
std::string configuration(const server_spec& server, const std::filesystem::path& data) {
  return fmt::format(R"(dataDir={}
clientPort={}
clientPortAddress=127.0.0.1
# The default; session timeouts are 2 to 20 ticks, hence 4 to 40 seconds.
tickTime=2000
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
)",
                     data.string(), server.port);
}

std::vector<std::string> command_line(const site& where, const std::filesystem::path& folder) {
  // The jar's manifest names the rest of Debian's class path; slf4j-simple is what makes the
  // server's log appear on its standard error, without a configuration file.
  const std::string jars =
      fmt::format("{}:{}", where.needed_file("/usr/share/java/zookeeper.jar", "libzookeeper-java"),
                  where.needed_file("/usr/share/java/slf4j-simple.jar", "libslf4j-java"));
  return {
      where.program("java", "default-jre-headless"),
      // Ample for the small trees of locks; a fixed size keeps the heap from growing in a run.
      "-Xms512m",
      "-Xmx512m",
      // Otherwise the JVM leaves a file in /tmp when it is killed.
      "-XX:-UsePerfData",
      fmt::format("-Djava.io.tmpdir={}", folder.string()),
      "-Djava.net.preferIPv4Stack=true",
      "-Dorg.slf4j.simpleLogger.showDateTime=true",
      "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS",
      "-cp",
      jars,
      "org.apache.zookeeper.server.quorum.QuorumPeerMain",
      (folder / "zoo.cfg").string(),
  };
}

server_spec zookeeper_server(site& where, const std::string& name) {
  const std::filesystem::path folder = where.folder(name);
  server_spec server;
  server.name = name;
  server.port = where.ports.take(name);
  server.ready = zookeeper_probe();
  server.time_limit = std::chrono::seconds{30};
  server.files.push_back({folder / "zoo.cfg", configuration(server, folder / "data")});
  server.argv = command_line(where, folder);
  return server;
}

}  // namespace

plan single_zookeeper(site& where) {
  plan result;
  result.servers.push_back(zookeeper_server(where, "zookeeper"));
  result.target = fmt::format("zookeeper://127.0.0.1:{}", result.servers.front().port);
  return result;
}

}  // namespace lockmark::local
