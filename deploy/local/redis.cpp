// Redis as a local server: its command line, with the reason for each setting.
#include <fmt/format.h>

#include "deploy/local/servers.hpp"

namespace lockmark::local {

server_spec redis_server(site& where, const std::string& name) {
  server_spec server;
  server.name = name;
  server.port = where.ports.take(name);
  server.ready = redis_probe();
  server.time_limit = std::chrono::seconds{10};
  server.data = {"appendonlydir", "dump.rdb"};
  server.argv = {
      where.program("redis-server", "redis-server"),
      "--port",
      fmt::format("{}", server.port),
      // Loopback only, and protected mode as well, since no password is set.
      "--bind",
      "127.0.0.1",
      "--protected-mode",
      "yes",
      // No snapshots and no log: a fork during a run would be measured as a stall, and locks of
      // minutes are not worth preserving across a restart. If they must be preserved, a log written
      // before each answer survives the death of the process; syncing would only matter for that of
      // the machine.
      "--save",
      "",
      "--appendonly",
      where.keeps_data ? "yes" : "no",
      "--dir",
      where.folder(name).string(),
      // For thousands of clients that connect at once: a full backlog costs a client a second.
      "--maxclients",
      "10000",
      "--tcp-backlog",
      "2048",
      "--daemonize",
      "no",
      "--logfile",
      "",
  };
  return server;
}

command redis_command(site& where, std::string purpose, int port, std::vector<std::string> words) {
  std::vector<std::string> argv{where.program("redis-cli", "redis-tools"),
                                "-e",
                                "-h",
                                "127.0.0.1",
                                "-p",
                                fmt::format("{}", port)};
  argv.insert(argv.end(), words.begin(), words.end());
  return {.purpose = std::move(purpose), .argv = std::move(argv)};
}

plan single_redis(site& where) {
  plan result;
  result.servers.push_back(redis_server(where, "redis"));
  result.target = fmt::format("redis://127.0.0.1:{}", result.servers.front().port);
  return result;
}

}  // namespace lockmark::local
