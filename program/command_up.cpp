// up, down and status: local servers for trying things by hand.
#include <fmt/core.h>

#include <memory>

#include "deploy/local/registry.hpp"
#include "deploy/local/versions.hpp"
#include "harness/base/lists.hpp"
#include "program/commands.hpp"

namespace lockmark::cli {
namespace {

void print(const local::cluster_info& cluster) {
  fmt::print("{:<12} {}\n", cluster.topology, cluster.target);
  for (const local::server_info& s : cluster.servers) {
    const std::string pid = s.pid == 0 ? "not running" : fmt::format("pid {}", s.pid);
    fmt::print("{:<12}   {} on port {}, {}, log {}\n", "", s.name, s.port, pid, s.log);
  }
  if (cluster.in_memory) {
    fmt::print("{:<12}   its data lie in memory: durable writes are faster than on a disk\n", "");
  }
}

std::string known_topologies() {
  return fmt::format(
      "{}; or of another version, such as redis-cluster@8.0, once deploy/servers has fetched it: "
      "{}",
      joined(local::topologies(),
             [](const local::topology& t) { return fmt::format("{} ({})", t.name, t.summary); }),
      joined(local::known_versions(), &local::server_version::name));
}

}  // namespace

command_action up_command(CLI::App& app, const context&) {
  struct up_options {
    std::string topology;
    int port = 0;
  };
  const auto g = std::make_shared<up_options>();
  app.add_option("topology", g->topology, known_topologies())->type_name("SERVERS")->required();
  app.add_option("--port", g->port, "of the first server; the next ones follow it")
      ->check(CLI::Range(1, 65535));
  return [g] {
    local::options with;
    if (g->port != 0) with.port = g->port;
    print(local::registry().up(g->topology, with));
    return 0;
  };
}

command_action down_command(CLI::App& app, const context&) {
  const auto topology = std::make_shared<std::string>();
  app.add_option("topology", *topology, "which one; all without it")->type_name("SERVERS");
  return [topology] {
    const auto stopped = local::registry().down(*topology);
    for (const local::cluster_info& c : stopped) fmt::print("{} stopped\n", c.topology);
    if (stopped.empty()) fmt::print("nothing was up\n");
    return 0;
  };
}

command_action status_command(CLI::App&, const context&) {
  return [] {
    const auto up = local::registry().status();
    for (const local::cluster_info& c : up) print(c);
    if (up.empty()) fmt::print("nothing is up\n");
    return 0;
  };
}

}  // namespace lockmark::cli
