// ZooKeeper as a local server: Debian's jars, its own configuration, nothing from /etc.
#include <fmt/format.h>

#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"

namespace lockmark::local {
namespace {

// For the class path; empty for the system's, whose manifest has them.
std::string jars_before(const site& where, std::string_view zookeeper) {
  constexpr std::string_view system = "/usr/share/java";
  if (zookeeper.starts_with(system)) return {};
  std::vector<std::string> names;
  add_words(names, "zookeeper_jars", json::object());
  std::string all;
  for (const std::string& name : names) {
    const std::string path = fmt::format("{}/{}.jar", system, name);
    all += fmt::format("{}:", where.needed_file(path, "libzookeeper-java"));
  }
  return all;
}

server_spec zookeeper_server(site& where, std::string name) {
  server_spec server;
  server.name = std::move(name);
  server.port = where.ports.take(server.name);
  server.ready = zookeeper_probe();
  server.time_limit = std::chrono::seconds{30};
  server.argv = {where.program("java", "default-jre-headless")};
  return server;
}

// Adds the settings of a server that keeps its data in `data`. `members`: of its ensemble; none: it
// is alone.
void configure(server_spec& server, const site& where, const std::filesystem::path& data,
               const json& members) {
  const std::filesystem::path folder = where.folder(server.name);
  const std::string settings =
      filled("zookeeper", {{"data", data.string()}, {"port", server.port}, {"members", members}});
  server.data = {(data / "version-2").lexically_relative(folder).string()};
  server.files.push_back({folder / "zoo.cfg", settings});
  const std::string zookeeper =
      where.needed_file("/usr/share/java/zookeeper.jar", "libzookeeper-java");
  add_words(server.argv, "zookeeper_java",
            {{"folder", folder.string()},
             {"members", members},
             {"zookeeper_jar", jars_before(where, zookeeper) + zookeeper},
             {"log_jar", where.needed_file("/usr/share/java/slf4j-simple.jar", "libslf4j-java")}});
}

}  // namespace

plan single_zookeeper(site& where) {
  plan result;
  result.servers.push_back(zookeeper_server(where, "zookeeper"));
  configure(result.servers[0], where, where.folder("zookeeper") / "data", json::array());
  result.target = fmt::format("zookeeper://{}", addresses_of(result.servers));
  return result;
}

// A member is ready, by its probe, once it leads with a quorum or follows: when all answer, one
// leads and all others follow.
plan zookeeper_ensemble(site& where, int size) {
  plan result;
  for (int number = 1; number <= size; ++number) {
    result.servers.push_back(zookeeper_server(where, fmt::format("zookeeper-{}", number)));
  }
  json members = json::array();
  for (server_spec& server : result.servers) {
    const int following = where.ports.take(server.name);
    const int election = where.ports.take(server.name);
    server.peer_ports = {following, election};
    members.push_back(
        {{"number", members.size() + 1}, {"following", following}, {"election", election}});
  }
  int number = 0;
  for (server_spec& server : result.servers) {
    const std::filesystem::path folder = where.folder(server.name);
    configure(server, where, folder, members);
    server.files.push_back({folder / "myid", fmt::format("{}\n", ++number)});
  }
  result.target = fmt::format("zookeeper://{}", addresses_of(result.servers));
  return result;
}

}  // namespace lockmark::local
